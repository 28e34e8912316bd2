import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { PutToolkitSource, ToolkitSourceView } from '../../imports/again/toolkit-source.schema.ts'
import type { ToolkitSourceService } from '../../imports/again/toolkit-source.service.ts'
import { shownFound, type ToolkitSource } from '../../imports/again/toolkit-source.ts'
import { resourceRoutes } from '../../lib/http/resource-routes.ts'
import { uuidParams } from '../../lib/http/schemas.ts'

type Parts = { toolkitSources: ToolkitSourceService }

const PATH = '/toolkits/:id/source'
const params = uuidParams
const view = {
  schema: ToolkitSourceView,
  toView: ({ found, ...source }: ToolkitSource) => ({ ...source, found: shownFound(found) }),
}

export const toolkitSourceRoutes: FastifyPluginAsyncZod<Parts> = async (app, { toolkitSources }) => {
  const routes = resourceRoutes(app, { access: 'user', tags: ['imports'] })

  routes.get(
    PATH,
    { summary: 'Get where the tools of a toolkit were imported from', params },
    view,
    ({ actor, params }) => toolkitSources.getSource(actor, params.id),
  )
  routes.put(
    PATH,
    { summary: 'Set the URL of the source and how often it is checked for changes', params, body: PutToolkitSource },
    view,
    ({ actor, params, body }) => toolkitSources.putSource(actor, params.id, body),
  )
  routes.remove(PATH, { summary: 'Forget the source; the tools stay', params }, ({ actor, params }) =>
    toolkitSources.removeSource(actor, params.id),
  )
  routes.perform(
    `${PATH}/check`,
    { summary: 'Check now whether the source has changed; changes nothing in the tools', params },
    view,
    ({ actor, params }) => toolkitSources.checkSource(actor, params.id),
  )
}
