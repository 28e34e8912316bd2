import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { Import, ImportItem } from '../../imports/import.ts'
import type { ImportService, ImportSource } from '../../imports/imports.service.ts'
import { acceptFiles, filesOf } from '../../lib/http/pages/multipart-form.ts'
import { pageOf } from '../../lib/http/paging.ts'
import { resourceRoutes, viewAsIs } from '../../lib/http/resource-routes.ts'
import { uuidParams } from '../../lib/http/schemas.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { Settings } from '../../lib/process/settings.ts'
import {
  CreateImport,
  ImportCard,
  ImportItemView,
  ImportView,
  ItemQuery,
  toItemView,
  UpdateImport,
} from './imports.schema.ts'

type Parts = { imports: ImportService; settings: Pick<Settings, 'limits'> }

/** Maximum size of a form in addition to its files: its fields and boundaries. */
const FORM_BYTES = 1_024 * 1_024

const params = uuidParams
const importView = viewAsIs(ImportView)
const cardView = viewAsIs(ImportCard)
const itemsView = {
  schema: pageOf(ImportItemView),
  toView: ({ items, nextCursor }: { items: readonly ImportItem[]; nextCursor: string | null }) => ({
    items: items.map(toItemView),
    nextCursor,
  }),
}

/** Returns the source that a body describes. Throws `invalid_request` unless it has exactly one. */
const toSource = ({ kind, auth, text, url, files }: z.output<typeof CreateImport>): ImportSource => {
  const given: ImportSource[] = [
    ...(text === undefined ? [] : [{ kind, auth, text }]),
    ...(url === undefined ? [] : [{ kind, auth, url }]),
    ...(files === undefined
      ? []
      : [{ kind, auth, files: files.map(({ name, text: content }) => ({ name, bytes: Buffer.from(content) })) }]),
  ]
  const [source] = given
  if (source !== undefined && given.length === 1) return source
  const message = 'must contain exactly one of text, url and files'
  throw new AppError('invalid_request', `The body is not valid: ${message}`, { errors: [{ path: '', message }] })
}

/** Serves the reviews of API descriptions and requests before they become tools. */
export const importRoutes: FastifyPluginAsyncZod<Parts> = async (app, { imports, settings }) => {
  const routes = resourceRoutes(app, { access: 'user', tags: ['imports'] })

  await app.register(async scope => {
    const maxBytes = settings.limits.maxImportBytes + FORM_BYTES
    acceptFiles(scope, maxBytes)
    resourceRoutes(scope, { access: 'user', tags: ['imports'] }).route('POST', 202)(
      '/toolkits/:id/imports',
      {
        summary: 'Read an API description, a Postman collection, cURL commands or a HAR file; send files as a form',
        params,
        body: CreateImport,
      },
      cardView,
      async ({ actor, params: { id }, body, request, reply }) => {
        const files = filesOf(request)
        const started = await imports.startImport(actor, id, files.length === 0 ? toSource(body) : { ...body, files })
        reply.header('location', `/api/v1/imports/${started.id}`)
        return started
      },
    )
  })
  routes.get(
    '/toolkits/:id/imports',
    { summary: 'List the latest imports of a toolkit, newest first', params },
    { schema: z.object({ items: z.array(ImportCard) }), toView: (items: readonly Import[]) => ({ items }) },
    ({ actor, params }) => imports.listImports(actor, params.id),
  )
  routes.get('/imports/:id', { params }, importView, ({ actor, params }) => imports.getImport(actor, params.id))
  routes.get(
    '/imports/:id/items',
    { summary: 'List the operations of an import in the order of its source', params, querystring: ItemQuery },
    itemsView,
    ({ actor, params, query: { limit, cursor, ...filter } }) =>
      imports.listItems(actor, params.id, filter, { limit, cursor }),
  )
  routes.update('/imports/:id', { params, body: UpdateImport }, importView, ({ actor, params, body }) =>
    imports.changeImport(actor, params.id, body),
  )
  routes.remove('/imports/:id', { params }, ({ actor, params }) => imports.removeImport(actor, params.id))
}
