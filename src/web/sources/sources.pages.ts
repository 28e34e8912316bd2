import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { idPageOf } from '../../lib/http/id-paging.ts'
import { listQuery, nextAddressOf } from '../../lib/http/list-query.ts'
import { type FormPage, formPage, formText } from '../../lib/http/pages/forms.ts'
import { pageNumber, pagerOf } from '../../lib/http/pages/pager.ts'
import { toPage } from '../../lib/http/paging.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { RewiringService } from '../../servers/bindings/bindings.service.ts'
import type { ToolkitUseService, UsedToolkit } from '../../servers/sources/toolkit-uses.service.ts'
import type { UpstreamOffers } from '../../upstreams/catalogue/upstream-offers.ts'
import type { UpstreamReviews } from '../../upstreams/review/upstream-reviews.ts'
import type { Upstream, UpstreamState } from '../../upstreams/upstream.ts'
import type { UpstreamService } from '../../upstreams/upstreams.service.ts'
import { removalPage } from '../frame/removal-page.ts'
import { type ServerFrame, type ServerFrameParts, serverTabPath } from '../frame/server-frame.ts'
import { createServerTab, type DoneTexts, doneNote, donePath, serverRoute } from '../frame/server-tab.ts'
import { toUpstreamRow } from '../upstreams/upstream-page.view.ts'
import { sourcePath, toAddableRow, toAtWorkList, toDifference, toSourceRow, toUnboundList } from './sources.view.ts'

const Params = z.object({ uuid: uuidParam, toolkitId: uuidParam })
const sourceRoute = { ...serverRoute, schema: { params: Params } }

const SOURCES_PER_PAGE = 50
const TOOLKITS_PER_PAGE = 30

const AddQuery = listQuery.extend({ page: pageNumber })
const AddForm = { toolkit: formText }
const AcceptForm = { version: formText }

const DONE: DoneTexts = {
  added: () => 'Toolkit added. Add its tools on the Tools tab',
  accepted: () => 'Update accepted',
  removed: () => 'Toolkit removed from this server',
  // Shown after a redirect from the pages of MCP servers.
  detached: () => 'MCP server removed from this server',
}

const toolkitHref = ({ id, snapshot }: UsedToolkit): string | undefined => {
  if (snapshot === undefined) return `/toolkits/${id}`
  return snapshot.isOriginPublic ? `/gallery/${id}` : undefined
}

type Parts = {
  frames: ServerFrameParts
  toolkitUses: ToolkitUseService
  rewiring: RewiringService
  upstreams: UpstreamService
  upstreamReviews: Pick<UpstreamReviews, 'countWaiting'>
  upstreamOffers: Pick<UpstreamOffers, 'listPresented'>
  /** Returns the connection state of an upstream. */
  upstreamStateOf: (upstream: Upstream) => UpstreamState
}

/** Registers the Sources tab, which lists the toolkits and MCP servers that provide a server's tools. */
export const sourcesPages: FastifyPluginAsync<Parts> = async (
  app,
  { frames, toolkitUses, rewiring, upstreams, upstreamReviews, upstreamOffers, upstreamStateOf },
) => {
  const tab = createServerTab(frames, 'sources')
  const tabPath = '/servers/:uuid/sources'

  const toUpstreamRows = async (actor: Actor, { id, passesOn }: ServerFrame) => {
    const waiting = await upstreamReviews.countWaiting(actor, id)
    // Patchbay does not read the catalogue of a passthrough server's upstream.
    const presented = passesOn ? [] : await upstreamOffers.listPresented(id)
    const toolCounts = new Map(
      presented.flatMap(one => (one.hasCatalogue ? [[one.upstream.id, one.tools.length] as const] : [])),
    )
    return (await upstreams.listAllUpstreams(actor, id)).map(found => {
      const counts = { waiting: waiting.get(found.upstream.id), tools: toolCounts.get(found.upstream.id) }
      return toUpstreamRow(found, upstreamStateOf(found.upstream), counts)
    })
  }

  app.get(tabPath, serverRoute, async (request, reply) => {
    const server = await tab.frameOf(request)
    const { cursor } = listQuery.parse(request.query)
    const window = idPageOf({ limit: SOURCES_PER_PAGE, cursor })
    const used = await toolkitUses.listUsedToolkits(actorOf(request), server.id, window)
    const page = toPage(used, window.limit, ({ useId }) => useId)
    const inUse = await toolkitUses.countToolsInUse(actorOf(request), server.id)
    const path = serverTabPath(server.id, 'sources')
    return reply.page('sources/sources', {
      title: `Sources of ${server.name}`,
      server,
      sources: page.items.map(one => toSourceRow(server.id, one, inUse.get(one.heldId) ?? 0)),
      next: nextAddressOf(path, page.nextCursor),
      addHref: `${path}/new`,
      upstreams: await toUpstreamRows(actorOf(request), server),
      attachHref: `${path}/upstreams/new`,
      done: doneNote(request, server, DONE),
    })
  })

  const addPage = async (request: FastifyRequest, server: ServerFrame): Promise<FormPage> => {
    const { q, page } = AddQuery.parse(request.query)
    const window = { search: q, skip: (page - 1) * TOOLKITS_PER_PAGE, take: TOOLKITS_PER_PAGE }
    const { toolkits, total } = await toolkitUses.listAddableToolkits(actorOf(request), server.id, window)
    const path = `${serverTabPath(server.id, 'sources')}/new`
    const counts = { page, perPage: TOOLKITS_PER_PAGE, total, shown: toolkits.length }
    return {
      view: 'sources/sources-new',
      data: {
        title: `Add a source to ${server.name}`,
        server,
        path,
        search: q,
        toolkits: toolkits.map(toAddableRow),
        pager: pagerOf(counts, { path, query: { q } }),
      },
    }
  }

  formPage(app, `${tabPath}/new`, {
    ...serverRoute,
    fields: AddForm,
    load: tab.frameForChange,
    page: addPage,
    save: async (request, server, { toolkit }) => {
      if (!z.uuid().safeParse(toolkit).success) throw new AppError('invalid_request', 'Choose a toolkit.')
      const actor = actorOf(request)
      // Submitting the form a second time must not accept an update that nobody has seen.
      const isUsed = (await toolkitUses.findUsedToolkit(actor, server.id, toolkit)) !== undefined
      if (!isUsed) await toolkitUses.useToolkit(actor, server.id, toolkit)
      return donePath(serverTabPath(server.id, 'sources'), 'added')
    },
  })

  const withSource =
    (frameOf: (request: FastifyRequest) => Promise<ServerFrame>) => async (request: FastifyRequest) => {
      const actor = actorOf(request)
      const server = await frameOf(request)
      const used = await toolkitUses.findUsedToolkit(actor, server.id, Params.parse(request.params).toolkitId)
      if (used === undefined) throw new AppError('not_found', 'This server does not use this toolkit.')
      const panels = await rewiring.listPanels(actor, server.id)
      return { server, used, atWork: panels.filter(({ toolkit }) => toolkit.id === used.heldId) }
    }

  formPage(app, `${tabPath}/:toolkitId`, {
    ...sourceRoute,
    fields: AcceptForm,
    load: withSource(tab.frameOf),
    page: (request, { server, used, atWork }) => ({
      view: 'sources/source',
      data: {
        title: `${used.title} in ${server.name}`,
        server,
        path: sourcePath(server.id, used.id),
        listHref: serverTabPath(server.id, 'sources'),
        source: toSourceRow(server.id, used, atWork.length),
        toolkitHref: toolkitHref(used),
        unbound: toUnboundList(server.id, atWork),
        atWork: toAtWorkList(server.id, atWork),
        difference: used.snapshot?.update && toDifference(used.snapshot.update),
        done: doneNote(request, server, DONE),
      },
    }),
    // Accepts only the update that was shown to the user.
    save: async (request, { server, used }, { version }) => {
      await toolkitUses.useToolkit(actorOf(request), server.id, used.id, version)
      return donePath(sourcePath(server.id, used.id), 'accepted')
    },
  })

  removalPage(app, `${tabPath}/:toolkitId/remove`, {
    ...sourceRoute,
    button: 'Remove toolkit',
    load: withSource(tab.frameForChange),
    nameOf: ({ used }) => used.title,
    page: (_request, { server, used, atWork }) => {
      const copy =
        used.snapshot === undefined
          ? ''
          : ' Its copy on this server is deleted. Adding it again copies the current version.'
      return {
        server,
        text:
          atWork.length === 0
            ? `This server uses none of its tools, so nothing stops working.${copy}`
            : 'It cannot be removed while this server uses its tools. Remove the tools first:',
        ...toAtWorkList(server.id, atWork),
        isBlocked: atWork.length > 0,
        back: sourcePath(server.id, used.id),
      }
    },
    remove: async (request, { server, used }) => {
      await toolkitUses.dropToolkit(actorOf(request), server.id, used.id)
      return donePath(serverTabPath(server.id, 'sources'), 'removed')
    },
  })
}
