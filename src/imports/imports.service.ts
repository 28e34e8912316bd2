import { z } from 'zod'
import { type Database, type Transaction, transact } from '../lib/db/client.ts'
import { decodeCursor, type Page, type PageQuery, toPage } from '../lib/http/paging.ts'
import { type Actor, assertMay, organizationIdsOf } from '../lib/kernel/actor.ts'
import { AppError } from '../lib/kernel/errors.ts'
import { orThrow } from '../lib/kernel/missing.ts'
import type { Sealing } from '../lib/process/sealing.ts'
import type { TextCounterFor, TokenCounterFor } from '../lib/tokens/token-counter.ts'
import type { Toolkit } from '../tools/tool.ts'
import { getToolkitForChange } from '../tools/toolkits.service.ts'
import { openSourceUrl } from './again/toolkit-source.ts'
import { findToolkitSource } from './again/toolkit-sources.store.ts'
import { withUpdatedTools } from './again/updated-tools.ts'
import type { Import, ImportItem, ImportTotals } from './import.ts'
import { changeSettings, type ImportChange, type SettingsChange } from './import-changes.ts'
import * as items from './import-items.store.ts'
import { openSecrets, sealSecrets } from './import-secrets.ts'
import { type ImportSource, type OpenedSource, openSource } from './import-source.ts'
import * as store from './imports.store.ts'
import { storeNames } from './naming/name-items.ts'
import { getUpdatedItem, type PreparedChange, prepareChange } from './prepare-change.ts'
import type { ImportReader, Place } from './reading/import-reader.ts'
import type { SourceFile, SourceFiles } from './reading/source-files.ts'
import { READER_STOPPED } from './reading/source-job.ts'
import { assertWhole, sealUrl } from './source-url.ts'

export type { ImportChange } from './import-changes.ts'
export type { ItemFilter } from './import-items.store.ts'
export type { GivenFile, ImportSource } from './import-source.ts'
export type { UnfinishedImports } from './imports.store.ts'

/** Imports of an organization that are not applied. Each can have thousands of rows for a day. */
const MAX_UNFINISHED = 10
/** Imports of a toolkit that are listed. */
const MAX_LISTED = 50
const BUSY_SECONDS = 60
/** How often a change is prepared while others change the same import. */
const MAX_TRIES = 3

const CHANGED = 'Somebody has changed this import meanwhile. Reload it and try again.'

const importNotFound = () => new AppError('not_found', 'Import not found.')

export type ImportServiceParts = {
  db: Database
  sealing: Sealing
  reader: ImportReader
  files: SourceFiles
  tokenCounterFor: TokenCounterFor
  textCounterFor: TextCounterFor
  maxBytes: number
  /** Why sources cannot be read here, as a sentence. Undefined if they can. */
  memoryProblem: string | undefined
}

type FoundImport = { import: Import; organizationId: string }
type ShownImport = Import & { totals: ImportTotals }

const assertReady = ({ state, problem }: Import): void => {
  if (state === 'ready') return
  if (state === 'reading') throw new AppError('conflict', 'The source is still being read.')
  if (state === 'applied') throw new AppError('conflict', 'This import has been applied, so it no longer changes.')
  throw new AppError('conflict', `The source could not be read. ${problem ?? ''}`.trim())
}

/** Starts, shows and changes the reviews of sources. Each function throws `not_found` for members of other organizations. */
export const createImportService = (parts: ImportServiceParts) => {
  const { db, sealing, reader, files, maxBytes, memoryProblem } = parts

  const findIn = async (tx: Transaction, actor: Actor, id: string): Promise<FoundImport> => {
    const found = orThrow(await store.findImport(tx, id, organizationIdsOf(actor)), importNotFound)
    assertMay(actor, found.organizationId, 'build')
    return found
  }

  /** Finds an import. Marks it as failed if its reader has ended. */
  const find = async (actor: Actor, id: string): Promise<FoundImport> => {
    const found = await findIn(db, actor, id)
    if (reader.isReading(id) || !store.isAbandoned(found.import, Date.now())) return found
    await store.failImport(db, id, READER_STOPPED)
    return findIn(db, actor, id)
  }

  const show = async (one: Import): Promise<ShownImport> => ({ ...one, totals: await items.sumItems(db, one.id) })

  const placeOf = (importId: string): items.ItemPlace => ({ importId, kind: db.kind })

  /** Reserves a place in the reader for `work`, which starts to read. */
  const withReaderRoom = async <T>(organizationId: string, work: (place: Place) => Promise<T>): Promise<T> => {
    if (memoryProblem !== undefined) throw new AppError('unavailable', memoryProblem)
    const place = await reader.reserve(organizationId)
    if (place !== undefined) return work(place).finally(() => reader.release(place))
    const retryAfterSeconds = BUSY_SECONDS
    throw new AppError('unavailable', 'Other sources are being read. Try again in a minute.', { retryAfterSeconds })
  }

  const assertRoom = async (organizationId: string): Promise<void> => {
    const unfinished = await store.listUnfinished(db, organizationId)
    const count = unfinished.reduce((sum, { imports }) => sum + imports, 0)
    if (count < MAX_UNFINISHED) return
    const places = unfinished.map(({ title, imports }) => `“${title}” (${imports})`).join(', ')
    throw new AppError(
      'limit_exceeded',
      `Your organization has ${count} unfinished imports, in these toolkits: ${places}. Import or discard one of them first: each toolkit lists its own under Import.`,
    )
  }

  const keepFiles = async (id: string, source: OpenedSource): Promise<SourceFile[]> => {
    const kept: SourceFile[] = []
    for (const { name, bytes } of source.files) kept.push(await files.write(id, name, bytes))
    return kept
  }

  /**
   * Returns the whole URL, also if values are hidden in the given one, and how the API authenticates, as the builder who
   * imported it before chose.
   */
  const findKnown = async (toolkitId: string, url: string) => {
    const known = await findToolkitSource(db, toolkitId)
    const knownUrl = known && openSourceUrl(sealing, known)
    if (known !== undefined && knownUrl !== undefined && [knownUrl, known.url].includes(url)) {
      return { url: knownUrl, auth: known.auth }
    }
    assertWhole(url)
    return { url, auth: undefined }
  }

  const start = async (actor: Actor, toolkit: Toolkit, source: ImportSource, place: Place): Promise<Import> => {
    const opened = openSource(source, maxBytes)
    const { id: toolkitId, organizationId } = toolkit
    await assertRoom(organizationId)
    const { kind, name } = opened
    const known = opened.url === undefined ? undefined : await findKnown(toolkitId, opened.url)
    const url = known?.url
    const one = await store.createImport(db, {
      ...{ toolkitId, createdById: actor.userId, kind: kind ?? 'openapi' },
      ...{ sourceName: name, toolkitUpdatedAt: toolkit.updatedAt },
      url: url === undefined ? undefined : sealUrl(sealing, toolkitId, url),
      auth: source.auth ?? known?.auth,
    })
    try {
      const kept = await keepFiles(one.id, opened)
      reader.start({ import: one, place, source: { kind, url, files: kept, allowed: [] } })
      return one
    } catch (error) {
      await store.removeImport(db, one.id)
      throw error
    }
  }

  /** Returns the documents to read again, or the URL to fetch. Throws `conflict` if there are neither. */
  const sourceToReadAgain = ({ id, toolkitId, sourceUrl, sealedUrl }: Import) => {
    const kept = reader.findKept(id)
    if (kept !== undefined) return { url: undefined, files: kept }
    const url = openSourceUrl(sealing, { toolkitId, url: sourceUrl, sealedUrl })
    if (url !== undefined) return { url, files: [] }
    throw new AppError('conflict', 'The documents of this import are no longer there. Start the import again.')
  }

  const storeSettings = async (tx: Transaction, one: Import, change: SettingsChange): Promise<void> => {
    const stored = openSecrets(sealing, one.id, await store.findSealedSecrets(tx, one.id))
    const { settings, secrets } = changeSettings(one, stored, change)
    const sealed = secrets.size === 0 ? undefined : sealSecrets(sealing, one.id, secrets)
    if (!(await store.updateSettings(tx, one.id, settings, sealed))) throw new AppError('conflict', CHANGED)
  }

  /**
   * Stores a change, and has the import read again if `isReadAgain` is true. Returns the import after it. Returns undefined,
   * and changes nothing, if names were prepared for what the import no longer is.
   */
  const storeChange = (
    actor: Actor,
    { deselect, select, settings = {} }: ImportChange,
    { before, edits, names }: PreparedChange,
    isReadAgain = false,
  ): Promise<Import | undefined> =>
    transact(db, async tx => {
      const { id } = before
      const { import: one } = await findIn(tx, actor, id)
      assertReady(one)
      if (names !== undefined && +one.updatedAt !== +before.updatedAt) return undefined
      for (const edit of edits) await items.editItem(tx, edit.item, edit)
      if (deselect !== undefined) await items.setSelected(tx, placeOf(id), deselect, false)
      if (select !== undefined) await items.setSelected(tx, placeOf(id), select, true)
      if (names !== undefined) await storeNames(tx, id, names)
      // Also tells who applies the import that it has changed.
      await storeSettings(tx, one, settings)
      if (isReadAgain && !(await store.reopenImport(tx, id))) throw new AppError('conflict', CHANGED)
      return (await findIn(tx, actor, id)).import
    })

  /** Prepares a change, and stores it. Returns undefined if it must be prepared again (see `storeChange`). */
  const tryToChange = async (actor: Actor, id: string, change: ImportChange): Promise<Import | undefined> => {
    const { import: before, organizationId } = await find(actor, id)
    assertReady(before)
    const { fetch = [], settings } = change
    const prepared = await prepareChange(parts, actor, before, change)
    if (fetch.length === 0 && settings?.auth === undefined) return storeChange(actor, change, prepared)
    const source = { kind: before.kind, allowed: fetch, ...sourceToReadAgain(before) }
    return withReaderRoom(organizationId, async place => {
      const one = await storeChange(actor, change, prepared, true)
      if (one !== undefined) reader.start({ import: one, place, source })
      return one
    })
  }

  return {
    /** Starts to read a source, and returns the import at once, in the state `reading`. */
    startImport: async (actor: Actor, toolkitId: string, source: ImportSource): Promise<Import> => {
      const toolkit = await getToolkitForChange(db, actor, toolkitId)
      return withReaderRoom(toolkit.organizationId, place => start(actor, toolkit, source, place))
    },

    getImport: async (actor: Actor, id: string): Promise<ShownImport> => show((await find(actor, id)).import),

    /** Lists the imports of a toolkit, or only those that are not applied, newest first. */
    listImports: async (actor: Actor, toolkitId: string, { onlyUnfinished = false } = {}): Promise<Import[]> => {
      await getToolkitForChange(db, actor, toolkitId)
      return store.listImports(db, toolkitId, { atMost: MAX_LISTED, onlyUnfinished })
    },

    /** Lists the toolkits of an organization with imports that are not applied, which all its builders may discard. */
    listUnfinished: async (actor: Actor, organizationId: string): Promise<store.UnfinishedImports[]> => {
      assertMay(actor, organizationId, 'build')
      return store.listUnfinished(db, organizationId)
    },

    /** Lists operations in the order of the source. */
    listItems: async (
      actor: Actor,
      id: string,
      filter: items.ItemFilter,
      { limit, cursor }: PageQuery,
    ): Promise<Page<ImportItem>> => {
      await findIn(db, actor, id)
      const after = decodeCursor(cursor, z.int())
      const rows = await items.listItems(db, placeOf(id), filter, { limit: limit + 1, after })
      return toPage(await withUpdatedTools(db, rows), limit, ({ position }) => position)
    },

    /** Counts the operations that match a filter. */
    countItems: async (actor: Actor, id: string, filter: items.ItemFilter): Promise<number> => {
      await findIn(db, actor, id)
      return items.countItems(db, placeOf(id), filter)
    },

    getItem: async (actor: Actor, id: string, key: string): Promise<ImportItem> => {
      await findIn(db, actor, id)
      return getUpdatedItem(db, id, key)
    },

    /** Changes an import that is ready: all of the change or nothing. Throws `conflict` in any other state. */
    changeImport: async (actor: Actor, id: string, change: ImportChange): Promise<ShownImport> => {
      for (let tries = 1; tries <= MAX_TRIES; tries++) {
        const one = await tryToChange(actor, id, change)
        if (one !== undefined) return show(one)
      }
      throw new AppError('conflict', CHANGED)
    },

    /**
     * Starts a new import of the same URL in place of one that failed or whose toolkit has changed since it was read, which
     * is discarded. Throws `conflict` if it has no URL, or is read or applied.
     */
    restartImport: async (actor: Actor, id: string): Promise<Import> => {
      const { import: one } = await find(actor, id)
      const { toolkitId, kind, settings } = one
      const url = openSourceUrl(sealing, { toolkitId, url: one.sourceUrl, sealedUrl: one.sealedUrl })
      if (one.state !== 'failed') assertReady(one)
      if (url === undefined) throw new AppError('conflict', 'This import has no URL. Start it again from the toolkit.')
      const toolkit = await getToolkitForChange(db, actor, toolkitId)
      // `openapi` also stands for a kind that is not known yet.
      const source = { url, auth: settings.auth, ...(kind !== 'openapi' && { kind }) }
      const next = await withReaderRoom(toolkit.organizationId, place => start(actor, toolkit, source, place))
      await reader.discard(id)
      await store.removeImport(db, id)
      return next
    },

    /** Stops reading, and discards what was read. Tools that it has created stay. */
    removeImport: async (actor: Actor, id: string): Promise<void> => {
      await findIn(db, actor, id)
      await reader.discard(id)
      await store.removeImport(db, id)
    },
  }
}

export type ImportService = ReturnType<typeof createImportService>
