import type { FastifyReply } from 'fastify'
import { isImportedAgain } from '../../imports/again/compared-items.store.ts'
import { listFilledKeys } from '../../imports/again/filled-keys.ts'
import type { ImportApplying } from '../../imports/apply/apply-import.service.ts'
import type { Import } from '../../imports/import.ts'
import type { ImportNaming } from '../../imports/naming/naming.ts'
import { DUPLICATE_RULE } from '../../imports/preselection.ts'
import { isFragmentRequest, type PageData } from '../../lib/http/pages/views.ts'
import { lackingKeys, type TypedSettings, toAccess } from './access.view.ts'
import { toApplied } from './applied.view.ts'
import { toFindings } from './findings.view.ts'
import { countSelectedNew, listNoted, listRefused } from './import-folders.store.ts'
import { createReviewLoader, type ReviewLoaderParts } from './load-review.ts'
import { toNames } from './names.view.ts'
import { importPath, type OpenedImport } from './open-import.ts'
import { type TypedOperation, toOpened } from './opened.view.ts'
import { NOTHING_TYPED, type TypedNames, toOperations, toRow } from './operations.view.ts'
import { toReviewBar, toReviewHead, toReviewTabs } from './review-head.view.ts'
import { ReviewQuery, reviewAddress } from './review-query.ts'
import { type TriedOperation, toTryIt } from './try-it.view.ts'

/** What was typed and not saved, and what happened. */
export type ReviewTyped = {
  status?: number
  problem?: string | undefined
  errors?: Readonly<Record<string, string>>
  names?: TypedNames
  settings?: TypedSettings
  naming?: ImportNaming
  operation?: TypedOperation
  tried?: TriedOperation
  /** Whether the import cannot be applied any more, so that the source must be read again. */
  isOutdated?: boolean
}

/** Returns why a form was not saved, for a page that is only changed in parts: those have no place for errors at fields. */
const refusedOf = ({ problem, errors = {} }: ReviewTyped): readonly string[] => {
  const texts = Object.values(errors)
  return texts.length > 0 || problem === undefined ? texts : [problem]
}

/** Returns where the form goes that reads a URL again. Undefined for other sources. */
const againOf = (found: Import): string | undefined =>
  found.sourceUrl === undefined ? undefined : `${importPath(found)}/again`

const ROWS_WHILE_READING = 20

export type ReviewPageParts = ReviewLoaderParts & { importApplying: Pick<ImportApplying, 'applyImport'> }

export const createReviewPage = (parts: ReviewPageParts) => {
  const { db, imports, importApplying } = parts
  const load = createReviewLoader(parts)

  /** Returns the name of the server that the tools are added to. Undefined without one. */
  const serverNameOf = async ({ found, actor, toolkit }: OpenedImport): Promise<string | undefined> => {
    const { server } = found.settings
    if (server === undefined) return undefined
    if (typeof server === 'object') return server.newName
    const all = await load.listServers(actor, toolkit.organizationId)
    return all.find(({ value }) => value === server)?.text ?? 'a server that no longer exists'
  }

  const viewData = async (
    opened: OpenedImport,
    query: ReviewQuery,
    { names, naming, settings, filled }: ReviewTyped & { filled: ReadonlySet<string> },
  ) => {
    const { actor, found, toolkit } = opened
    if (query.view === 'findings') {
      const [examples, refused, noted] = await Promise.all([
        load.listExamples(opened),
        listRefused(db, found.id),
        listNoted(db, found.id),
      ])
      return { findings: toFindings(found, { examples, refused, noted }) }
    }
    if (query.view === 'names') {
      const isAgain = await isImportedAgain(db, found.id)
      return { names: toNames(found, await load.listNamed(opened, query), { query, isAgain, typed: naming }) }
    }
    if (query.view === 'changes') return { changes: await load.findChanges(opened, query) }
    if (query.view === 'access') {
      const servers = await load.listServers(actor, toolkit.organizationId)
      return { access: toAccess(found, { servers, filled }, settings ?? new Map()) }
    }
    const hasDuplicates = (found.summary?.rules ?? []).some(({ rule }) => rule === DUPLICATE_RULE)
    const place = { path: importPath(found), isAgain: await isImportedAgain(db, found.id), hasDuplicates }
    const listed = await load.listOperations(opened, query)
    return { operations: toOperations(listed, query, place, names ?? NOTHING_TYPED) }
  }

  const showReview = async (reply: FastifyReply, opened: OpenedImport, query: ReviewQuery, typed: ReviewTyped) => {
    const { found } = opened
    const path = importPath(found)
    const item = await load.findOpened(opened, query)
    const unset = lackingKeys(found)
    const filled = await listFilledKeys(db, found, unset)
    const lacking = unset.filter(key => !filled.has(key))
    // Without a server, a request that is tried has only the values of the import.
    const lackingToTry = found.settings.server === undefined ? unset : lacking
    const changed = await load.countChanged(opened)
    const isAgain = changed !== undefined
    const server = await serverNameOf(opened)
    const data: PageData = {
      ...toReviewHead(opened, isAgain),
      width: 'wide',
      scripts: ['import-review'],
      query,
      tabs: toReviewTabs(opened, query, { lacking: lacking.length, changed }),
      bar: toReviewBar(found, { server, added: await countSelectedNew(db, found.id), isAgain }),
      action: reviewAddress(path, query),
      apply: reviewAddress(`${path}/apply`, query),
      accessHref: reviewAddress(path, { view: 'access', open: query.open }),
      needs: found.needs,
      opened: item && toOpened(item, query, path, typed.operation),
      tryIt: item && toTryIt(item, { query, path, lacking: lackingToTry }, typed.tried),
      problem: typed.problem,
      readAgain: typed.isOutdated === true ? againOf(found) : undefined,
      errors: typed.errors ?? {},
      refused: isFragmentRequest(reply.request) ? refusedOf(typed) : [],
      ...(await viewData(opened, query, { ...typed, filled })),
    }
    return reply.page('imports/review', data, { status: typed.status ?? 200 })
  }

  const showReading = async (reply: FastifyReply, opened: OpenedImport): Promise<FastifyReply> => {
    const { actor, found } = opened
    const { items } = await imports.listItems(actor, found.id, {}, { limit: ROWS_WHILE_READING, cursor: undefined })
    const query = ReviewQuery.parse({})
    return reply.page('imports/reading', {
      ...toReviewHead(opened),
      width: 'wide',
      progress: found.total === undefined ? undefined : { read: found.read, total: found.total },
      rows: items.map(item => toRow(item, query, importPath(found), NOTHING_TYPED)),
    })
  }

  const showApplied = async (reply: FastifyReply, opened: OpenedImport): Promise<FastifyReply> => {
    const { actor, found } = opened
    // Changes nothing: it returns what applying did.
    const report = await importApplying.applyImport(actor, found.id)
    return reply.page('imports/applied', { ...toReviewHead(opened), applied: toApplied(report) })
  }

  return {
    load,
    /** Shows the page of an import in its state. */
    show: async (
      reply: FastifyReply,
      opened: OpenedImport,
      query: ReviewQuery,
      typed: ReviewTyped = {},
    ): Promise<FastifyReply> => {
      const { found } = opened
      if (found.state === 'reading') return showReading(reply, opened)
      if (found.state === 'failed') {
        const reason = found.problem ?? 'The source could not be read.'
        return reply.page('imports/failed', { ...toReviewHead(opened), reason, readAgain: againOf(found) })
      }
      if (found.state === 'applied') return showApplied(reply, opened)
      return showReview(reply, opened, query, typed)
    },
  }
}
