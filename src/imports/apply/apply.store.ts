import { z } from 'zod'
import type { Database, Rows, Transaction } from '../../lib/db/client.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { type JsonObject, toJsonObject } from '../../lib/kernel/json.ts'
import { mapFound, withoutNulls } from '../../lib/kernel/missing.ts'
import { createPause } from '../../lib/worker/pause.ts'
import { openTo } from '../../servers/access/open-to.store.ts'
import { parseDocument } from '../../tools/stored-definition.ts'
import type { Tool, ToolDefinition } from '../../tools/tool.ts'
import { CreateTool } from '../../tools/toolkits.schema.ts'
import { toTool } from '../../tools/tools.store.ts'
import { toResolution } from '../again/compared-item.ts'
import { foundNothing } from '../again/toolkit-source.ts'
import { ImportEdits } from '../import.ts'
import { toImport } from '../imports.store.ts'
import { toUrlColumns } from '../source-url.ts'
import { ImportReport } from './import-report.ts'

const toApplicable = (row: Rows.Import) => ({
  ...toImport(row),
  report: row.report === null ? undefined : ImportReport.parse(row.report),
  sealed: row.secrets === null || row.keyId === null ? undefined : { text: row.secrets, keyId: row.keyId },
})

/** An import as far as it decides what is applied. */
export type ApplicableImport = ReturnType<typeof toApplicable>

/** Finds an import in a toolkit of these organizations. */
export const findApplicable = async (
  tx: Transaction,
  id: string,
  organizationIds: readonly string[],
): Promise<ApplicableImport | undefined> => {
  const where = { id, toolkit: { organizationId: { in: [...organizationIds] }, snapshotOfId: null } }
  return mapFound(await tx.import.findFirst({ where }), toApplicable)
}

const OutputSchema = z.record(z.string(), z.json()).nullable()

const toSelected = ({ tool, edits, reason, outputSchema, ...row }: Rows.ImportItem) => ({
  ...withoutNulls({
    key: row.key,
    operationId: row.operationId,
    state: row.state,
    toolId: row.toolId,
  }),
  resolve: toResolution(row.resolve, row.comparison),
  reason: reason ?? undefined,
  tool: tool === null ? undefined : CreateTool.parse(tool),
  outputSchema: OutputSchema.parse(outputSchema) ?? undefined,
  edits: edits === null ? {} : ImportEdits.parse(edits),
  // The tools of other operations have names already.
  proposedName: row.state === 'new' ? (row.name ?? undefined) : undefined,
})

/** An operation that was selected. `tool` is the definition as generated; undefined if there is none. */
export type SelectedItem = ReturnType<typeof toSelected>

/** Rows per query. Reading or writing this many takes a few milliseconds. */
const ROWS_AT_ONCE = 50

/** Lists the selected operations in the order of the source. Yields to the event loop. */
export const listSelected = async (db: Database, importId: string): Promise<SelectedItem[]> => {
  const pause = createPause()
  const items: SelectedItem[] = []
  for (let after = -1, isMore = true; isMore; await pause()) {
    const where = { importId, selected: true, position: { gt: after } }
    const rows = await db.importItem.findMany({ where, orderBy: { position: 'asc' }, take: ROWS_AT_ONCE })
    for (const row of rows) {
      items.push(toSelected(row))
      await pause()
    }
    isMore = rows.length === ROWS_AT_ONCE
    after = rows.at(-1)?.position ?? after
  }
  return items
}

export const findItem = async (tx: Transaction, importId: string, key: string): Promise<SelectedItem | undefined> =>
  mapFound(await tx.importItem.findUnique({ where: { importId_key: { importId, key } } }), toSelected)

const Base = z.object({ name: z.string(), title: z.string().optional(), description: z.string().optional() })

/** A tool's definition as it was generated, as one JSON document with the name. */
const toStoredBase = (definition: ToolDefinition) => toJsonObject({ ...definition })

const readBase = (base: unknown): ToolDefinition => ({ ...parseDocument(base), ...Base.parse(base) })

/** A tool that was imported before. `base` is undefined if it was not. */
export type ToolToUpdate = { tool: Tool; base: ToolDefinition | undefined }

/** Returns the tools of a toolkit by ID, with what they were generated as. */
export const listToolsToUpdate = async (
  db: Database,
  toolkitId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ToolToUpdate>> => {
  const pause = createPause()
  const found = new Map<string, ToolToUpdate>()
  for (let at = 0; at < ids.length; at += ROWS_AT_ONCE) {
    const where = { toolkitId, id: { in: ids.slice(at, at + ROWS_AT_ONCE) } }
    for (const { source, ...row } of await db.tool.findMany({ where, include: { source: true } })) {
      found.set(row.id, { tool: toTool(row), base: source === null ? undefined : readBase(source.base) })
      await pause()
    }
  }
  return found
}

/** Where a tool comes from. `base` is the definition as generated, and `outputSchema` the schema to propose. */
export type NewToolSource = {
  toolId: string
  key: string
  operationId: string | undefined
  base: ToolDefinition
  outputSchema: JsonObject | undefined
}

type Origin = { title: string | undefined; generator: number; sha256: string | undefined }

/** Stores where tools come from, in place of what was stored before. */
export const putToolSources = async (
  tx: Transaction,
  { title, generator, sha256 }: Origin,
  sources: readonly NewToolSource[],
): Promise<void> => {
  const pause = createPause()
  for (let at = 0; at < sources.length; at += ROWS_AT_ONCE) {
    const batch = sources.slice(at, at + ROWS_AT_ONCE)
    await tx.toolSource.deleteMany({ where: { toolId: { in: batch.map(({ toolId }) => toolId) } } })
    await tx.toolSource.createMany({
      data: batch.map(({ toolId, key, operationId, base, outputSchema }) => ({
        toolId,
        key,
        operationId: operationId ?? null,
        base: toStoredBase(base),
        ...(outputSchema !== undefined && { outputSchema }),
        generator,
        title: title ?? null,
        sha256: sha256 ?? null,
      })),
    })
    await pause()
  }
}

/** Notes that the unselected operations whose tools are up to date come from this version of the source. */
export const putVersion = async (
  tx: Transaction,
  { id, sha256 = null }: Pick<ApplicableImport, 'id'> & { sha256?: string | null | undefined },
  generator: number,
): Promise<void> => {
  const where = { importId: id, state: 'same', selected: false, reason: null, toolId: { not: null } } as const
  const rows = await tx.importItem.findMany({ where, select: { toolId: true } })
  const toolIds = rows.flatMap(({ toolId }) => toolId ?? [])
  if (toolIds.length === 0) return
  await tx.toolSource.updateMany({ where: { toolId: { in: toolIds }, generator }, data: { sha256 } })
}

/** Lists the tools whose operations the source no longer has. */
const listGone = async (tx: Transaction, importId: string): Promise<string[]> => {
  const rows = await tx.importItem.findMany({ where: { importId, state: 'gone' }, select: { toolId: true } })
  return rows.flatMap(({ toolId }) => toolId ?? [])
}

/**
 * Stores where the tools of a toolkit come from. Keeps the URL if they come from a file now, and how often it is checked.
 * What earlier checks found is out of date.
 */
export const putToolkitSource = async (tx: Transaction, from: ApplicableImport): Promise<void> => {
  const { toolkitId, kind, summary, sourceUrl, sealedUrl, settings, sha256 = '', etag, lastModified } = from
  const data = {
    kind,
    title: summary?.title ?? null,
    ...(sourceUrl !== undefined && { url: sourceUrl, ...toUrlColumns(sealedUrl) }),
    settings: toJsonObject(settings),
    sha256,
    etag: etag ?? null,
    lastModified: lastModified ?? null,
    problem: null,
    found: foundNothing(sha256, await listGone(tx, from.id)),
  }
  await tx.toolkitSource.upsert({ where: { toolkitId }, create: { toolkitId, ...data }, update: data })
}

/** Returns those of the servers that a user may open. */
export const listOpenServers = async (
  tx: Transaction,
  actor: Actor,
  ids: readonly string[],
): Promise<ReadonlySet<string>> => {
  const where = { AND: [{ id: { in: [...ids] }, removedAt: null }, openTo(actor)] }
  return new Set((await tx.server.findMany({ where, select: { id: true } })).map(({ id }) => id))
}

/** Notes that an import was applied, and deletes the values of its secrets. */
export const markAsApplied = async (tx: Transaction, id: string, report: ImportReport): Promise<void> => {
  const data = {
    state: 'applied',
    appliedAt: new Date(),
    report: toJsonObject(report),
    secrets: null,
    keyId: null,
  } as const
  await tx.import.update({ where: { id }, data })
}
