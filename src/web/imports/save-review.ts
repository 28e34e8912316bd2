import type { FastifyReply } from 'fastify'
import type { ImportChange, ImportService } from '../../imports/imports.service.ts'
import { ImportNaming } from '../../imports/naming/naming.ts'
import { isFragmentRequest } from '../../lib/http/pages/views.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { OpenedImport } from './open-import.ts'
import { readBulk, readChanges, readNames, readNaming, readRows, readSettings, textsOf } from './review-forms.ts'
import type { createReviewPage } from './review-page.ts'
import type { ReviewQuery } from './review-query.ts'

type Parts = { imports: Pick<ImportService, 'changeImport'> }
type Page = ReturnType<typeof createReviewPage>
type Body = Readonly<Record<string, unknown>>
/** Saves the form of a tab. Returns the page with the errors if it cannot be saved. */
type SaveTab = (
  reply: FastifyReply,
  opened: OpenedImport,
  query: ReviewQuery,
  body: Body,
) => Promise<FastifyReply | undefined>

const isEmpty = (change: ImportChange): boolean => Object.keys(change).length === 0

/** Errors that the form of settings is shown again with. */
const EXPECTED: readonly string[] = ['invalid_request', 'not_found', 'conflict', 'unavailable']

/** Saves the form of a tab of the review. The button that imports sends it too, so that nothing typed is lost. */
export const createReviewSaving = ({ imports }: Parts, page: Page) => {
  const saveOperations: SaveTab = async (reply, opened, query, body) => {
    const { actor, found } = opened
    const listed = await page.load.listOperations(opened, query)
    const items = listed.items ?? []
    const names = readNames(items, body)
    if (names.errors.size > 0) return page.show(reply, opened, query, { status: 400, names })
    const rows = readRows(items, body)
    if (!isEmpty(rows)) await imports.changeImport(actor, found.id, rows)
    const areAll = listed.items !== undefined && listed.nextCursor === null && query.cursor === undefined
    const bulk = readBulk(items, areAll, query, body)
    if (bulk !== undefined) await imports.changeImport(actor, found.id, bulk)
    return undefined
  }

  const saveSettings: SaveTab = async (reply, opened, query, body) => {
    const typed = textsOf(body)
    try {
      await imports.changeImport(opened.actor, opened.found.id, readSettings(opened.found, typed))
      return undefined
    } catch (error) {
      if (!(error instanceof AppError) || !EXPECTED.includes(error.code)) throw error
      const errors = Object.fromEntries(
        (error.errors ?? []).map(({ path, message }) => [fieldOf(path), `The ${labelOf(path)} ${message}.`]),
      )
      return page.show(reply, opened, query, { status: error.status, problem: error.message, errors, settings: typed })
    }
  }

  const saveNaming: SaveTab = async (reply, opened, query, body) => {
    const naming = readNaming(opened.found, body)
    try {
      const settings = { naming: parseInput(ImportNaming, naming) }
      await imports.changeImport(opened.actor, opened.found.id, { settings })
      return undefined
    } catch (error) {
      if (!(error instanceof AppError) || !EXPECTED.includes(error.code)) throw error
      const [first] = error.errors ?? []
      const problem = first === undefined ? error.message : undefined
      const errors = first === undefined ? {} : { prefix: `The prefix ${first.message}.` }
      return page.show(reply, opened, query, { status: error.status, problem, errors, naming })
    }
  }

  const saveChanges: SaveTab = async (reply, opened, query, body) => {
    try {
      await imports.changeImport(opened.actor, opened.found.id, readChanges(body))
      return undefined
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'invalid_request') throw error
      return page.show(reply, opened, query, { status: error.status, problem: error.message })
    }
  }

  const savers: Partial<Record<ReviewQuery['view'], SaveTab>> = {
    operations: saveOperations,
    access: saveSettings,
    names: saveNaming,
    changes: saveChanges,
  }

  /** Shows the import as it is: somebody has applied it, or has its source read again. */
  const showInstead = (
    reply: FastifyReply,
    opened: OpenedImport,
    query: ReviewQuery,
  ): Promise<FastifyReply> | FastifyReply =>
    isFragmentRequest(reply.request)
      ? reply.header('hx-refresh', 'true').code(204).send()
      : page.show(reply, opened, query)

  return {
    /** Saves the form, then does `then`. Shows the form again with its errors if it cannot be saved. */
    save: async (
      reply: FastifyReply,
      opened: OpenedImport,
      query: ReviewQuery,
      body: Body,
      then: () => Promise<FastifyReply>,
    ): Promise<FastifyReply> => {
      if (opened.found.state !== 'ready') return showInstead(reply, opened, query)
      return (await savers[query.view]?.(reply, opened, query, body)) ?? then()
    },
  }
}

const SETTINGS: Readonly<Record<string, string>> = { baseUrls: 'url', variables: 'global', secrets: 'secret' }

/** Returns the id of the field that an error of the service is about: `settings.baseUrls.key` is `url:key`. */
const fieldOf = (path: string): string => {
  const [, part = '', ...key] = path.split('.')
  if (!path.startsWith('settings.')) return path
  if (part === 'server') return key[0] === 'newName' ? 'serverName' : 'server'
  return `${SETTINGS[part] ?? part}:${key.join('.')}`
}

const labelOf = (path: string): string => {
  const [kind = ''] = fieldOf(path).split(':')
  const labels: Readonly<Record<string, string>> = {
    url: 'URL',
    global: 'value',
    secret: 'value',
    serverName: 'name',
    authHeader: 'name',
  }
  return labels[kind] ?? kind
}
