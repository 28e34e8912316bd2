import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { ImportApplying } from '../../imports/apply/apply-import.service.ts'
import type { ImportService } from '../../imports/imports.service.ts'
import { signalOf } from '../../lib/http/gone.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { ExecutionService } from '../../runtime/execution.service.ts'
import { parseArguments } from '../inspector/argument-form.ts'
import { createImportOpener, importPath, importRoute, type OpenedImport, type OpenImportParts } from './open-import.ts'
import { bodyOf, textsOf } from './review-forms.ts'
import { createReviewPage, type ReviewPageParts } from './review-page.ts'
import { ReviewQuery } from './review-query.ts'
import { createReviewSaving } from './save-review.ts'
import { fieldsOf, type TriedOperation } from './try-it.view.ts'

type Parts = OpenImportParts &
  ReviewPageParts & {
    imports: ImportService
    importApplying: ImportApplying
    execution: Pick<ExecutionService, 'testUnsavedTool'>
  }

const PATH = '/toolkits/:id/imports/:importId'
/** Nesting of typed JSON. No API needs more, and the check of a value is recursive. */
const MAX_ARGUMENT_DEPTH = 100

/** Errors that the page of the review can say, so that the selection is kept. */
const isExpected = (error: unknown): error is AppError =>
  error instanceof AppError && !['internal', 'forbidden', 'unauthenticated'].includes(error.code)

const sentenceOf = ({ message, errors = [] }: AppError): string =>
  [message, ...errors.slice(0, 3).map(({ path, message: text }) => `${path}: ${text}.`)].join(' ')

/** Serves what the review leads to: trying an operation before it is saved, and the import of the selected ones. */
export const importApplyingPages: FastifyPluginAsync<Parts> = async (app, parts) => {
  const { imports, importApplying, execution } = parts
  const opener = createImportOpener(parts)
  const page = createReviewPage(parts)
  const saving = createReviewSaving(parts, page)

  const queryOf = (request: FastifyRequest): ReviewQuery => ReviewQuery.parse(request.query)

  app.post(`${PATH}/apply`, importRoute, async (request, reply) => {
    const opened = await opener.openImport(request)
    const query = queryOf(request)
    const path = importPath(opened.found)
    // A second click, or another person: shows what was imported.
    if (opened.found.state === 'applied') return reply.redirect(path, 303)
    return saving.save(reply, opened, query, bodyOf(request.body), async () => {
      try {
        await importApplying.applyImport(opened.actor, opened.found.id)
        return reply.redirect(path, 303)
      } catch (error) {
        if (!isExpected(error)) throw error
        const now = await opener.openImport(request)
        const isOutdated = error.code === 'conflict'
        return page.show(reply, now, query, { status: error.status, problem: sentenceOf(error), isOutdated })
      }
    })
  })

  const tryOperation = async (
    reply: FastifyReply,
    { actor, found }: OpenedImport,
    key: string,
  ): Promise<TriedOperation> => {
    const fields = fieldsOf(await imports.getItem(actor, found.id, key)) ?? []
    const texts = textsOf(bodyOf(reply.request.body))
    const typed = (name: string) => texts.get(`argument:${name}`) ?? ''
    const { args, errors } = parseArguments(fields, typed, MAX_ARGUMENT_DEPTH)
    if (errors.size > 0) return { typed, errors }
    try {
      const tool = await importApplying.getUnsavedTool(actor, found.id, key)
      const test = await execution.testUnsavedTool(actor, tool, args, signalOf(reply))
      return { typed, errors, test: { ...test, sampleId: undefined, media: undefined } }
    } catch (error) {
      if (!isExpected(error)) throw error
      return { typed, errors, problem: sentenceOf(error) }
    }
  }

  app.post(`${PATH}/test`, importRoute, async (request, reply) => {
    const opened = await opener.openImport(request)
    const query = queryOf(request)
    if (query.open === undefined) throw new AppError('invalid_request', 'No operation is open.')
    const tried = await tryOperation(reply, opened, query.open)
    const isRefused = tried.errors.size > 0 || tried.problem !== undefined
    return page.show(reply, opened, query, { status: isRefused ? 400 : 200, tried })
  })
}
