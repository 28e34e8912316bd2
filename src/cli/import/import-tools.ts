import { setTimeout } from 'node:timers/promises'
import { z } from 'zod'
import type { ImportKind } from '../../imports/import.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { serverUrl } from '../../lib/kernel/server-url.ts'
import { loadSettings } from '../../lib/process/settings.ts'
import { expectSuccess, type FileForm, listAll, type ManagementApi, parseSuccess } from '../management-api.ts'
import { print, printable } from '../output.ts'
import { chooseItems } from './choose-operations.ts'
import { confirmTools } from './import-questions.ts'
import { ApplyReport, appliedLines, ImportedItem, type ImportReview, ReadImport, reviewLines } from './import-review.ts'
import { openApi } from './open-api.ts'
import type { SourceOptions } from './source-options.ts'
import { collectSecrets } from './source-secrets.ts'

/** The source of an import: a URL that Patchbay fetches, or files. */
export type ToolSource = { kind: ImportKind } & ({ url: string } | { files: FileForm['files'] })

const POLL_MS = 300

const Created = z.object({ id: z.string(), title: z.string() })

const isInteractive = ({ yes, json }: SourceOptions): boolean =>
  yes !== true && json !== true && process.stdin.isTTY === true && process.stdout.isTTY === true

/** Removes a toolkit that was created for an import that did not happen. */
const discard = async ({ send }: ManagementApi, path: string): Promise<void> => {
  await send('DELETE', path)
}

const startImport = async (
  api: ManagementApi,
  toolkitId: string,
  source: ToolSource,
  { auth }: SourceOptions,
): Promise<ReadImport> => {
  const path = `/toolkits/${encodeURIComponent(toolkitId)}/imports`
  const fields = { kind: source.kind, ...(auth !== undefined && { auth }) }
  const response =
    'url' in source
      ? await api.send('POST', path, { ...fields, url: source.url })
      : await api.sendFiles(path, { fields, files: source.files })
  return waitUntilRead(api, parseSuccess(response, z.object({ id: z.string() })).id)
}

const waitUntilRead = async (api: ManagementApi, id: string): Promise<ReadImport> => {
  for (;;) {
    const found = await expectSuccess(api, 'GET', `/imports/${id}`, ReadImport)
    if (found.state === 'failed') throw new AppError('invalid_request', found.problem ?? 'It could not be read.')
    if (found.state !== 'reading') return found
    await setTimeout(POLL_MS)
  }
}

/** Selects the operations, and stores the choices for all of them. */
const settle = async (
  api: ManagementApi,
  { id, summary, settings }: ReadImport,
  chosen: readonly ImportedItem[],
  options: SourceOptions,
): Promise<void> => {
  const { server, newServer, baseUrl } = options
  const path = `/imports/${id}`
  const used = new Set(chosen.flatMap(({ globals }) => globals))
  const open = (summary?.globals ?? []).filter(
    ({ key, isSecret }) => isSecret && used.has(key) && !settings.secretKeys.includes(key),
  )
  const isWired = server !== undefined || newServer !== undefined
  const secrets = isWired ? await collectSecrets(open, options.secretFrom ?? [], isInteractive(options)) : {}
  const [main] = summary?.baseUrls ?? []
  if (baseUrl !== undefined && main === undefined) throw new AppError('invalid_request', 'It has no base URL to set.')
  await expectSuccess(api, 'PATCH', path, z.unknown(), {
    deselect: { filter: {} },
    select: { keys: chosen.map(({ key }) => key) },
    settings: {
      ...(server !== undefined && { server }),
      ...(newServer !== undefined && { server: { newName: newServer } }),
      ...(baseUrl !== undefined && main !== undefined && { baseUrls: { [main.key]: baseUrl } }),
      secrets,
    },
  })
}

const review = async (api: ManagementApi, read: ReadImport, options: SourceOptions): Promise<ImportReview> => {
  const items = await listAll(api, `/imports/${read.id}/items`, ImportedItem)
  const choice = chooseItems(
    items.filter(({ reason }) => reason === null),
    options,
  )
  return { read, ...choice, refused: items.filter(({ reason }) => reason !== null) }
}

const runImport = async (
  api: ManagementApi,
  toolkit: z.infer<typeof Created>,
  source: ToolSource,
  options: SourceOptions,
): Promise<void> => {
  const origin = options.url ?? loadSettings().baseUrl
  const read = await startImport(api, toolkit.id, source, options)
  try {
    const reviewed = await review(api, read, options)
    const { leftOut } = reviewed
    if (options.json !== true) process.stdout.write(`${reviewLines(reviewed).map(printable).join('\n')}\n\n`)
    await settle(api, read, reviewed.chosen, options)
    if (isInteractive(options)) await confirmTools(reviewed.chosen.length, toolkit.title, origin)
    const report = await expectSuccess(api, 'POST', `/imports/${read.id}/apply`, ApplyReport)
    const server = report.server && { ...report.server, url: serverUrl(origin, report.server.id) }
    print(options, { toolkit, ...report, server, leftOut }, appliedLines({ toolkit, report, url: server?.url }))
  } catch (error) {
    await discard(api, `/imports/${read.id}`)
    throw error
  }
}

/** Imports the tools of a source, with the management API. Removes what it created if they are not imported. */
export const importTools = async (source: ToolSource, options: SourceOptions): Promise<void> => {
  const api = await openApi(options, isInteractive(options))
  try {
    if (options.toolkit !== undefined) {
      const path = `/toolkits/${encodeURIComponent(options.toolkit)}`
      await runImport(api, await expectSuccess(api, 'GET', path, Created), source, options)
      return
    }
    const toolkit = await expectSuccess(api, 'POST', '/toolkits', Created, { title: options.newToolkit ?? '' })
    await runImport(api, toolkit, source, options).catch(async (error: unknown) => {
      await discard(api, `/toolkits/${toolkit.id}`)
      throw error
    })
  } finally {
    await api.close()
  }
}
