import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { ImportEdits } from '../../imports/import.ts'
import type { ImportService } from '../../imports/imports.service.ts'
import { formText, formValues, parseForm } from '../../lib/http/pages/forms.ts'
import { parseInput } from '../../lib/http/validation.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { createImportOpener, importPath, importRoute, type OpenedImport, type OpenImportParts } from './open-import.ts'
import { bodyOf, readOperation } from './review-forms.ts'
import { createReviewPage, type ReviewPageParts } from './review-page.ts'
import { ReviewQuery, reviewAddress } from './review-query.ts'
import { createReviewSaving } from './save-review.ts'

type Parts = OpenImportParts & ReviewPageParts & { imports: ImportService }

const PATH = '/toolkits/:id/imports/:importId'
const OperationForm = { name: formText, description: formText }

/** Returns the errors that belong to fields as sentences, by field. */
const sentencesOf = ({ errors = [] }: AppError, labels: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    errors.flatMap(({ path, message }) => {
      const label = labels[path]
      return label === undefined ? [] : [[path, `The ${label} ${message}.`]]
    }),
  )

/** Serves the review of an import: `/toolkits/<id>/imports/<id>`. */
export const importPages: FastifyPluginAsync<Parts> = async (app, parts) => {
  const { imports } = parts
  const opener = createImportOpener(parts)
  const page = createReviewPage(parts)
  const saving = createReviewSaving(parts, page)

  const queryOf = (request: FastifyRequest): ReviewQuery => ReviewQuery.parse(request.query)

  app.get(PATH, importRoute, async (request, reply) => {
    const opened = await opener.openImport(request)
    // Ends the updates of the page that shows the progress.
    if (request.headers['hx-target'] === 'reading' && opened.found.state !== 'reading') {
      return reply.header('hx-refresh', 'true').code(204).send()
    }
    if (
      opened.found.state === 'ready' &&
      !request.url.includes('?') &&
      (await page.load.countChanged(opened)) !== undefined
    ) {
      return reply.redirect(reviewAddress(importPath(opened.found), { view: 'changes' }), 303)
    }
    return page.show(reply, opened, queryOf(request))
  })

  app.post(PATH, importRoute, async (request, reply) => {
    const opened = await opener.openImport(request)
    const query = queryOf(request)
    return saving.save(reply, opened, query, bodyOf(request.body), async () =>
      reply.redirect(reviewAddress(importPath(opened.found), query), 303),
    )
  })

  app.post(`${PATH}/operation`, importRoute, async (request, reply) => {
    const opened = await opener.openImport(request)
    const query = queryOf(request)
    const { open } = query
    if (open === undefined) throw new AppError('invalid_request', 'No operation is open.')
    const typed = parseForm(OperationForm, request.body)
    const description = typed.description.replaceAll('\r\n', '\n').trim()
    return changeOperation(reply, opened, query, open, { name: typed.name.trim(), description })
  })

  const changeOperation = async (
    reply: FastifyReply,
    opened: OpenedImport,
    query: ReviewQuery,
    key: string,
    { name, description }: { name: string; description: string },
  ): Promise<FastifyReply> => {
    const { actor, found } = opened
    try {
      parseInput(ImportEdits, { name, ...(description !== '' && { description }) })
      const edit = readOperation(await imports.getItem(actor, found.id, key), { name, description })
      await imports.changeImport(actor, found.id, { items: { [key]: edit } })
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'invalid_request') throw error
      const errors = sentencesOf(error, { name: 'name', description: 'description' })
      const problem = Object.keys(errors).length === 0 ? error.message : undefined
      return page.show(reply, opened, query, { status: 400, problem, operation: { name, description, errors } })
    }
    return reply.redirect(`${reviewAddress(importPath(found), query)}#opened`, 303)
  }

  app.post(`${PATH}/fetch`, importRoute, async (request, reply) => {
    const { actor, found } = await opener.openImport(request)
    const { origin } = parseForm({ origin: formValues }, request.body)
    const allowed = origin.filter(one => found.needs.includes(one))
    if (allowed.length > 0) await imports.changeImport(actor, found.id, { fetch: allowed })
    return reply.redirect(importPath(found), 303)
  })

  /** Reads the URL of a failed or outdated import again. */
  app.post(`${PATH}/again`, importRoute, async (request, reply) => {
    const { actor, found } = await opener.openImport(request)
    return reply.redirect(importPath(await imports.restartImport(actor, found.id)), 303)
  })

  app.post(`${PATH}/removal`, importRoute, async (request, reply) => {
    const { actor, found } = await opener.openImport(request)
    await imports.removeImport(actor, found.id)
    return reply.redirect(`/toolkits/${found.toolkitId}/imports?done=discarded`, 303)
  })
}
