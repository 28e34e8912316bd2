import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { IMPORT_IMPACTS } from '../../imports/again/compared-item.ts'
import { CHANGE_PARTS } from '../../imports/again/compared-items.store.ts'
import type { ImportChanges, ToolChange } from '../../imports/again/import-changes.service.ts'
import { IMPORT_ITEM_STATES } from '../../imports/import.ts'
import { decodeCursor, pageOf, pageQuery, toPage } from '../../lib/http/paging.ts'
import { resourceRoutes } from '../../lib/http/resource-routes.ts'
import { orNull, uuidParams } from '../../lib/http/schemas.ts'
import { resolution } from './imports.schema.ts'

type Parts = { importChanges: ImportChanges }

const ChangeView = z.object({
  key: z.string().describe('method and path'),
  toolId: z.string(),
  name: z.string().describe('name of the tool in the toolkit'),
  state: z.enum(IMPORT_ITEM_STATES),
  impact: z.enum(IMPORT_IMPACTS).describe('whether calls may fail, or only texts differ'),
  selected: z.boolean().describe('whether the tool is updated'),
  resolve: orNull(resolution).describe('whose version conflicts keep, of the tool or by piece; mine if it is null'),
  breaking: z.array(z.object({ parameter: orNull(z.string()), message: z.string() })),
  pieces: z.array(
    z.object({
      piece: z.string().describe('such as description, url.path or parameters.limit'),
      change: z.enum(['mine', 'theirs', 'conflict']).describe('who changed it since the last import; conflict: both'),
      isWording: z.boolean(),
      mine: orNull(z.string()),
      theirs: orNull(z.string()),
    }),
  ),
  servers: z.array(z.object({ id: z.string(), name: z.string() })).describe('your servers that use the tool'),
})

const toChangeView = ({ toolName, usedBy, breaking, pieces, ...change }: ToolChange) => ({
  ...change,
  name: toolName,
  breaking: [...breaking],
  pieces: [...pieces],
  servers: [...usedBy],
})

const ChangeQuery = pageQuery.extend({ part: z.enum(CHANGE_PARTS).optional() })
const Position = z.int().min(0)

const view = {
  schema: pageOf(ChangeView),
  toView: ({ items, nextCursor }: { items: readonly ToolChange[]; nextCursor: string | null }) => ({
    items: items.map(toChangeView),
    nextCursor,
  }),
}

/** Serves what imports change in tools that were imported before. */
export const importChangeRoutes: FastifyPluginAsyncZod<Parts> = async (app, { importChanges }) => {
  const routes = resourceRoutes(app, { access: 'user', tags: ['imports'] })

  routes.get(
    '/imports/:id/changes',
    {
      summary: 'List what the source changes in tools that were imported from it before',
      params: uuidParams,
      querystring: ChangeQuery,
    },
    view,
    async ({ actor, params, query: { part, limit, cursor } }) => {
      const after = decodeCursor(cursor, Position)
      const items = await importChanges.listChanges(actor, params.id, part, { limit: limit + 1, after })
      return toPage(items, limit, ({ position }) => position)
    },
  )
}
