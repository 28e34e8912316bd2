import { z } from 'zod'
import { type GlobalDraft, listOriginsByKey, type UpstreamDraft } from '../config-files/draft-upstreams.ts'
import { listAll, type ManagementApi } from '../management-api.ts'

export type ImportOutcome = {
  /** The imported MCP servers. `name` is the name in Patchbay. */
  imported: { name: string; id: string; enabled: boolean; notes: readonly string[] }[]
  skipped: { name: string; why: string }[]
  /** Keys of globals that have no value yet. */
  missingGlobals: string[]
}

/** The server to import into, with its existing upstream names and global keys. */
export type TargetServer = { id: string; names: ReadonlySet<string>; keys: ReadonlySet<string> }

export const readTarget = async (api: ManagementApi, id: string): Promise<TargetServer> => {
  const upstreams = await listAll(api, `/servers/${id}/upstreams`, z.object({ name: z.string() }))
  const globals = await listAll(api, `/servers/${id}/globals`, z.object({ key: z.string() }))
  return { id, names: new Set(upstreams.map(({ name }) => name)), keys: new Set(globals.map(({ key }) => key)) }
}

type Wanted = {
  upstreams: readonly UpstreamDraft[]
  globals: readonly GlobalDraft[]
  /** Values by key. A key without an entry has no value yet. */
  values: ReadonlyMap<string, string>
}

const Created = z.object({ id: z.string(), warnings: z.array(z.string()).optional() })

/** Creates the upstreams one after the other. If one is rejected, continues with the others. */
export const importUpstreams = async (
  api: ManagementApi,
  target: TargetServer,
  { upstreams, globals, values }: Wanted,
): Promise<ImportOutcome> => {
  const outcome: ImportOutcome = { imported: [], skipped: [], missingGlobals: [] }
  const keys = new Set(target.keys)
  const missing = new Set<string>()
  const originsByKey = listOriginsByKey(upstreams, key => values.get(key))

  /** Creates globals. Returns an error message if one is rejected. */
  const putGlobals = async (wanted: readonly string[]): Promise<string | undefined> => {
    for (const key of wanted.filter(each => !keys.has(each))) {
      const value = values.get(key)
      if (value === undefined) {
        missing.add(key)
        continue
      }
      const secret = globals.find(draft => draft.key === key)?.isSecret === true && value !== ''
      const path = `/servers/${target.id}/globals/${encodeURIComponent(key)}`
      const origins = secret ? originsByKey.get(key) : undefined
      const { why } = await api.send('PUT', path, {
        value,
        secret,
        ...(origins !== undefined && { origins: [...origins] }),
      })
      if (why !== undefined) return `Its global "${key}" was rejected: ${why}`
      keys.add(key)
    }
    return undefined
  }

  const importOne = async ({ input, globals: wanted, notes }: UpstreamDraft): Promise<string | undefined> => {
    if (target.names.has(input.name)) return `The server already has an MCP server named "${input.name}".`
    // An upstream is enabled only once its globals exist. Starting its command before that would fail.
    const enableLater = input.enabled === true && wanted.length > 0
    const body = z.record(z.string(), z.json()).parse({ ...input, enabled: input.enabled === true && !enableLater })
    const { why, body: created, status } = await api.send('POST', `/servers/${target.id}/upstreams`, body)
    if (why !== undefined) return status === 403 ? `Forbidden (403): ${why}` : why
    const { id, warnings = [] } = Created.parse(created)
    const problem =
      (await putGlobals(wanted)) ??
      (enableLater ? (await api.send('PATCH', `/upstreams/${id}`, { enabled: true })).why : undefined)
    const allNotes = [...notes, ...warnings, ...(problem === undefined ? [] : [`It is disabled: ${problem}`])]
    const enabled = input.enabled === true && problem === undefined
    outcome.imported.push({ name: input.name, id, enabled, notes: allNotes })
    return undefined
  }

  for (const draft of upstreams) {
    const why = await importOne(draft)
    if (why !== undefined) outcome.skipped.push({ name: draft.found.name, why })
  }
  outcome.missingGlobals = [...missing]
  return outcome
}
