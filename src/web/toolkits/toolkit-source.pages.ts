import type { FastifyPluginAsync } from 'fastify'
import { PutToolkitSource } from '../../imports/again/toolkit-source.schema.ts'
import type { ToolkitSourceService } from '../../imports/again/toolkit-source.service.ts'
import type { ImportService } from '../../imports/imports.service.ts'
import { actorOf } from '../../lib/http/access.ts'
import { formPage, formText } from '../../lib/http/pages/forms.ts'
import { parseInput } from '../../lib/http/validation.ts'
import type { ToolkitCatalogue } from '../../tools/sharing/catalogue.service.ts'
import { idOf, idRoute } from '../frame/user-page.ts'
import { INTERVAL_OPTIONS } from './toolkit-source.view.ts'

type Parts = {
  toolkitSources: ToolkitSourceService
  toolkitCatalogue: Pick<ToolkitCatalogue, 'getOwn'>
  imports: Pick<ImportService, 'startImport'>
}

const PATH = '/toolkits/:id/source'

/** Serves the source of a toolkit: its settings, a check, and the start of another import. */
export const toolkitSourcePages: FastifyPluginAsync<Parts> = async (
  app,
  { toolkitSources, toolkitCatalogue, imports },
) => {
  formPage(app, PATH, {
    ...idRoute,
    fields: { url: formText, checkEvery: formText },
    load: async request => {
      const [actor, id] = [actorOf(request), idOf(request)]
      return {
        actor,
        source: await toolkitSources.getSource(actor, id),
        toolkit: await toolkitCatalogue.getOwn(actor, id),
      }
    },
    page: (_request, { source, toolkit }, typed) => ({
      view: 'toolkits/source',
      data: {
        title: `Source of ${toolkit.title}`,
        section: 'toolkits',
        width: 'narrow',
        crumbs: [
          { href: '/toolkits', text: 'Toolkits' },
          { href: `/toolkits/${toolkit.id}`, text: toolkit.title },
        ],
        path: `/toolkits/${toolkit.id}`,
        typed: typed ?? { url: source.url ?? '', checkEvery: source.checkEvery ?? '' },
        intervals: INTERVAL_OPTIONS,
        hasHidden: source.sealedUrl !== undefined,
      },
      labels: { url: 'URL', checkEvery: 'interval' },
    }),
    save: async (_request, { actor, toolkit }, { url, checkEvery }) => {
      const input = parseInput(PutToolkitSource, { url: url.trim() || null, checkEvery: checkEvery || null })
      await toolkitSources.putSource(actor, toolkit.id, input)
      return `/toolkits/${toolkit.id}?done=source-saved`
    },
  })

  app.post(`${PATH}/check`, idRoute, async (request, reply) => {
    const id = idOf(request)
    const { problem } = await toolkitSources.checkSource(actorOf(request), id)
    // A failed check is shown with its reason in the section of the source.
    return reply.redirect(problem === undefined ? `/toolkits/${id}?done=checked` : `/toolkits/${id}#source`, 303)
  })

  /** Reads the source again, or asks for it if it has no URL. */
  app.post(`${PATH}/import`, idRoute, async (request, reply) => {
    const [actor, id] = [actorOf(request), idOf(request)]
    const { url, kind } = await toolkitSources.getSource(actor, id)
    if (url === undefined) return reply.redirect(`/toolkits/${id}/imports`, 303)
    const started = await imports.startImport(actor, id, { kind, url })
    return reply.redirect(`/toolkits/${id}/imports/${started.id}`, 303)
  })
}
