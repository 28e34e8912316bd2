import { z } from 'zod'
import { removeInBatches } from '../lib/db/batches.ts'
import type { Rows, Transaction } from '../lib/db/client.ts'
import { HOUR_MS } from '../lib/kernel/durations.ts'
import { mapFound, withoutNulls } from '../lib/kernel/missing.ts'
import type { Sealed } from '../lib/process/sealing.ts'
import { type Import, type ImportKind, ImportSettings, ImportSummary } from './import.ts'
import { type StoredUrl, toSealedUrl, toUrlColumns } from './source-url.ts'

/** How long an import that is not applied is kept. */
const IMPORT_KEPT_MS = 24 * HOUR_MS
/** A reader shows this often that it still runs, and counts as ended after three times as long. */
export const READER_BEAT_MS = 20_000
const READER_GONE_MS = 3 * READER_BEAT_MS

const Origins = z.array(z.string())

export const toImport = ({ secrets, keyId: _keyId, sealedUrl, urlKeyId, ...row }: Rows.Import): Import => {
  const { summary, settings, needs, ...rest } = withoutNulls(row)
  return {
    ...rest,
    sealedUrl: toSealedUrl({ sealedUrl, urlKeyId }),
    summary: summary === undefined ? undefined : ImportSummary.parse(summary),
    settings: { ...ImportSettings.parse(settings), ...(secrets === null && { secretKeys: [] }) },
    needs: Origins.parse(needs),
  }
}

export type NewImport = Pick<Import, 'toolkitId' | 'createdById' | 'kind' | 'sourceName'> & {
  url: StoredUrl | undefined
  toolkitUpdatedAt: Date
  auth: ImportSettings['auth']
}

export const createImport = async (tx: Transaction, fields: NewImport): Promise<Import> => {
  const { auth, url, sourceName = null, ...rest } = fields
  const place = { sourceUrl: url?.shown ?? null, ...toUrlColumns(url?.sealedUrl), sourceName }
  return toImport(
    await tx.import.create({
      data: { ...rest, ...place, settings: ImportSettings.parse({ auth }), needs: [] },
    }),
  )
}

const sealedOf = ({ secrets, keyId }: Pick<Rows.Import, 'secrets' | 'keyId'>): Sealed | undefined =>
  secrets === null || keyId === null ? undefined : { text: secrets, keyId }

/** Finds an import in a toolkit of these organizations. */
export const findImport = async (
  tx: Transaction,
  id: string,
  organizationIds: readonly string[],
): Promise<{ import: Import; organizationId: string } | undefined> =>
  mapFound(
    await tx.import.findFirst({
      where: { id, toolkit: { organizationId: { in: [...organizationIds] } } },
      include: { toolkit: { select: { organizationId: true } } },
    }),
    ({ toolkit, ...row }) => ({ import: toImport(row), organizationId: toolkit.organizationId }),
  )

/** An import that is not applied keeps thousands of rows. */
const UNFINISHED = { state: { in: ['reading', 'ready'] } } satisfies Rows.Prisma.ImportWhereInput

/** Lists the imports of a toolkit, or only those that are not applied, newest first. */
export const listImports = async (
  tx: Transaction,
  toolkitId: string,
  { atMost, onlyUnfinished }: { atMost: number; onlyUnfinished: boolean },
): Promise<Import[]> =>
  (
    await tx.import.findMany({
      where: { toolkitId, ...(onlyUnfinished && UNFINISHED) },
      orderBy: { id: 'desc' },
      take: atMost,
    })
  ).map(toImport)

/** A toolkit with imports that are not applied, and how many there are. */
export type UnfinishedImports = { toolkitId: string; title: string; imports: number }

/** Lists the toolkits of an organization with imports that are not applied, by title. */
export const listUnfinished = async (tx: Transaction, organizationId: string): Promise<UnfinishedImports[]> => {
  const found = await tx.toolkit.findMany({
    where: { organizationId, imports: { some: UNFINISHED } },
    select: { id: true, title: true, _count: { select: { imports: { where: UNFINISHED } } } },
    orderBy: [{ title: 'asc' }, { id: 'asc' }],
  })
  return found.map(({ id, title, _count }) => ({ toolkitId: id, title, imports: _count.imports }))
}

type ReadingFields = { kind?: ImportKind; summary?: ImportSummary; read: number; total?: number }

/** What is known once a source has been read. */
export type FinishedReading = {
  summary: ImportSummary
  sha256: string
  needs: readonly string[]
  etag: string | undefined
  lastModified: string | undefined
  /** Adds the secrets of the source to those that the builder has entered. Returns the keys of all. */
  mergeSecrets: (entered: Sealed | undefined) => { sealed: Sealed | undefined; keys: string[] }
}

/** Stores what a reader found. Returns false if the import is no longer being read. */
export const updateReading = async (tx: Transaction, id: string, fields: ReadingFields): Promise<boolean> =>
  (await tx.import.updateMany({ where: { id, state: 'reading' }, data: fields })).count > 0

/** Marks an import as ready. Returns false if it is no longer being read. */
export const finishReading = async (
  tx: Transaction,
  { id, toolkitId }: Pick<Import, 'id' | 'toolkitId'>,
  { summary, sha256, needs, etag, lastModified, mergeSecrets }: FinishedReading,
): Promise<boolean> => {
  const row = await tx.import.findFirst({ where: { id, state: 'reading' } })
  const toolkit = await tx.toolkit.findUnique({ where: { id: toolkitId }, select: { updatedAt: true } })
  if (row === null || toolkit === null) return false
  const { sealed, keys } = mergeSecrets(sealedOf(row))
  const settings = { ...ImportSettings.parse(row.settings), secretKeys: keys }
  await tx.import.update({
    where: { id },
    data: {
      ...{ state: 'ready', summary, settings, sha256, needs: [...needs] },
      ...{ etag: etag ?? null, lastModified: lastModified ?? null, toolkitUpdatedAt: toolkit.updatedAt },
      ...{ secrets: sealed?.text ?? null, keyId: sealed?.keyId ?? null },
    },
  })
  return true
}

/** Has a ready import read again. Returns false if it is not ready. */
export const reopenImport = async (tx: Transaction, id: string): Promise<boolean> =>
  (await tx.import.updateMany({ where: { id, state: 'ready' }, data: { state: 'reading', needs: [], read: 0 } }))
    .count > 0

/** Shows that the readers of these imports still run. */
export const touchImports = async (tx: Transaction, ids: readonly string[]): Promise<void> => {
  await tx.import.updateMany({ where: { id: { in: [...ids] }, state: 'reading' }, data: { updatedAt: new Date() } })
}

/** Marks an import that is being read as failed. `problem` is a sentence. */
export const failImport = async (tx: Transaction, id: string, problem: string): Promise<void> => {
  await tx.import.updateMany({ where: { id, state: 'reading' }, data: { state: 'failed', problem } })
  await tx.importItem.deleteMany({ where: { importId: id, import: { state: 'failed' } } })
}

/** Returns whether the process that read an import has ended. */
export const isAbandoned = ({ state, updatedAt }: Pick<Import, 'state' | 'updatedAt'>, now: number): boolean =>
  state === 'reading' && updatedAt.getTime() < now - READER_GONE_MS

/** Returns the ids of imports whose reader has ended. */
export const listAbandoned = async (tx: Transaction, now: number): Promise<string[]> => {
  const where = { state: 'reading' as const, updatedAt: { lt: new Date(now - READER_GONE_MS) } }
  return (await tx.import.findMany({ where, select: { id: true } })).map(({ id }) => id)
}

/** Stores the builder's choices. Returns false if the import is not ready. */
export const updateSettings = async (
  tx: Transaction,
  id: string,
  settings: ImportSettings,
  sealed: Sealed | undefined,
): Promise<boolean> => {
  const data = { settings, secrets: sealed?.text ?? null, keyId: sealed?.keyId ?? null }
  return (await tx.import.updateMany({ where: { id, state: 'ready' }, data })).count > 0
}

/** Returns the sealed secrets of an import, if it has any. */
export const findSealedSecrets = async (tx: Transaction, id: string): Promise<Sealed | undefined> => {
  const row = await tx.import.findUnique({ where: { id }, select: { secrets: true, keyId: true } })
  return row === null ? undefined : sealedOf(row)
}

/** Returns the ids of the master keys with which secrets of imports, and URLs of sources, are sealed. */
export const listImportSealingKeyIds = async (tx: Transaction): Promise<string[]> => {
  const withSecrets = await tx.import.groupBy({ by: ['keyId'], where: { keyId: { not: null } } })
  const sealed = { by: ['urlKeyId' as const], where: { urlKeyId: { not: null } } }
  const withUrls = [...(await tx.import.groupBy(sealed)), ...(await tx.toolkitSource.groupBy(sealed))]
  return [...withSecrets.map(({ keyId }) => keyId), ...withUrls.map(({ urlKeyId }) => urlKeyId)].flatMap(id => id ?? [])
}

/** Returns those of the imports that need the documents of their source: they are read, or may be read again. */
export const listReadable = async (tx: Transaction, ids: readonly string[]): Promise<string[]> => {
  const where = { id: { in: [...ids] }, state: { in: ['reading' as const, 'ready' as const] } }
  return (await tx.import.findMany({ where, select: { id: true } })).map(({ id }) => id)
}

/** Removes an import. Its operations go first and in batches, because a large one would block other writes. */
export const removeImport = async (tx: Transaction, id: string, signal?: AbortSignal): Promise<void> => {
  await removeInBatches(limit => tx.importItem.deleteMany({ where: { importId: id }, limit }), signal)
  if (signal?.aborted !== true) await tx.import.deleteMany({ where: { id } })
}

/** Removes imports that have not been applied in time, and the operations of those that have. */
export const removeExpiredImports = async (tx: Transaction, now: Date, signal: AbortSignal): Promise<void> => {
  const before = new Date(now.getTime() - IMPORT_KEPT_MS)
  const applied = { import: { state: 'applied' as const, createdAt: { lt: before } } }
  await removeInBatches(limit => tx.importItem.deleteMany({ where: applied, limit }), signal)
  const where = { createdAt: { lt: before }, state: { not: 'applied' as const } }
  const expired = await tx.import.findMany({ where, select: { id: true } })
  for (const { id } of expired) {
    if (signal.aborted) return
    await removeImport(tx, id, signal)
  }
}
