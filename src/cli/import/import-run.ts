import { z } from 'zod'
import type { GlobalDraft, UpstreamDraft } from '../config-files/index.ts'
import { listAll, type ManagementApi } from './management-api.ts'

export type ImportOutcome = {
  /** By the names that they have in the server. */
  imported: { name: string; id: string; enabled: boolean; notes: readonly string[] }[]
  skipped: { name: string; why: string }[]
  /** Keys of globals that have no value yet. */
  missingGlobals: string[]
}

/** What is known of a server before anything is made in it. */
export type TargetServer = { id: string; names: ReadonlySet<string>; keys: ReadonlySet<string> }

export const readTarget = async (api: ManagementApi, id: string): Promise<TargetServer> => {
  const upstreams = await listAll(api, `/servers/${id}/upstreams`, z.object({ name: z.string() }))
  const globals = await listAll(api, `/servers/${id}/globals`, z.object({ key: z.string() }))
  return { id, names: new Set(upstreams.map(({ name }) => name)), keys: new Set(globals.map(({ key }) => key)) }
}

type Wanted = {
  upstreams: readonly UpstreamDraft[]
  globals: readonly GlobalDraft[]
  /** By key; what is not in it has no value yet. */
  values: ReadonlyMap<string, string>
}

const Made = z.object({ id: z.string(), warnings: z.array(z.string()).optional() })

/** Makes the upstreams, one after the other; one that is refused does not hold up the others. */
export const importUpstreams = async (
  api: ManagementApi,
  target: TargetServer,
  { upstreams, globals, values }: Wanted,
): Promise<ImportOutcome> => {
  const outcome: ImportOutcome = { imported: [], skipped: [], missingGlobals: [] }
  const keys = new Set(target.keys)
  const missing = new Set<string>()

  /** Answers why one of them cannot be. */
  const putGlobals = async (wanted: readonly string[]): Promise<string | undefined> => {
    for (const key of wanted.filter(each => !keys.has(each))) {
      const value = values.get(key)
      if (value === undefined) {
        missing.add(key)
        continue
      }
      const secret = globals.find(draft => draft.key === key)?.isSecret === true && value !== ''
      const path = `/servers/${target.id}/globals/${encodeURIComponent(key)}`
      const { why } = await api.send('PUT', path, { value, secret })
      if (why !== undefined) return `Its global "${key}" cannot be: ${why}`
      keys.add(key)
    }
    return undefined
  }

  const importOne = async ({
    foundName,
    input,
    globals: wanted,
    notes,
  }: UpstreamDraft): Promise<string | undefined> => {
    if (target.names.has(input.name)) return `The server has an upstream "${input.name}" already.`
    // Not before all that it needs is there: a command would be started in vain.
    const waits = input.enabled === true && wanted.length > 0
    const body = z.record(z.string(), z.json()).parse({ ...input, enabled: input.enabled === true && !waits })
    const { why, body: made, status } = await api.send('POST', `/servers/${target.id}/upstreams`, body)
    if (why !== undefined) return status === 403 ? `Refused (403): ${why}` : why
    const { id, warnings = [] } = Made.parse(made)
    const problem =
      (await putGlobals(wanted)) ??
      (waits ? (await api.send('PATCH', `/upstreams/${id}`, { enabled: true })).why : undefined)
    const name = input.name === foundName ? foundName : input.name
    const said = [...notes, ...warnings, ...(problem === undefined ? [] : [`It is disabled: ${problem}`])]
    outcome.imported.push({ name, id, enabled: input.enabled === true && problem === undefined, notes: said })
    return undefined
  }

  for (const draft of upstreams) {
    const why = await importOne(draft)
    if (why !== undefined) outcome.skipped.push({ name: draft.foundName, why })
  }
  outcome.missingGlobals = [...missing]
  return outcome
}
