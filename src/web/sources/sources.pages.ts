import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { idPageOf } from '../../lib/http/id-paging.ts'
import { addressOf, listQuery } from '../../lib/http/list-query.ts'
import { type FormPage, formText, parseForm, showForm, submitForm } from '../../lib/http/pages/forms.ts'
import { pageNumber, pagerOf } from '../../lib/http/pages/pager.ts'
import { assertTypedName } from '../../lib/http/pages/typed-name.ts'
import { toPage } from '../../lib/http/paging.ts'
import { uuidParam } from '../../lib/http/schemas.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { RewiringService, WiredPanel } from '../../servers/bindings/bindings.service.ts'
import type { ToolkitUseService, UsedToolkit } from '../../servers/sources/toolkit-uses.service.ts'
import type { UpstreamOffers } from '../../upstreams/catalogue/upstream-offers.ts'
import type { UpstreamReviews } from '../../upstreams/review/upstream-reviews.ts'
import type { Upstream, UpstreamState } from '../../upstreams/upstream.ts'
import type { UpstreamService } from '../../upstreams/upstreams.service.ts'
import { type ServerFrame, type ServerFrameParts, serverTabPath } from '../frame/server-frame.ts'
import {
  type DoneTexts,
  doneNote,
  frameForChange,
  frameOf,
  redirectDone,
  serverSchema,
  TAB_CONFIG,
} from '../frame/server-tab.ts'
import { toUpstreamRow } from '../upstreams/upstream-page.view.ts'
import { sourcePath, toAddableRow, toAtWorkList, toDifference, toSourceRow } from './sources.view.ts'

const config = TAB_CONFIG
const Params = z.object({ uuid: uuidParam, toolkitId: uuidParam })
const schema = { params: Params }

const SOURCES_PER_PAGE = 50
const TOOLKITS_PER_PAGE = 30

const AddQuery = listQuery.extend({ page: pageNumber })
const AddForm = { toolkit: formText }
const AcceptForm = { version: formText }
const RemovalForm = { sure: formText }

const DONE: DoneTexts = {
  added: () => 'Toolkit added. Add its tools on the Tools tab',
  accepted: () => 'Update accepted',
  removed: () => 'The toolkit is removed from this server',
  // Said by the pages of MCP servers, which lead here.
  detached: () => 'The MCP server is removed from this server',
}

const noToolkit = () => new AppError('not_found', 'This server uses no such toolkit.')

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
  /** How an upstream's connection is. */
  stateOf: (upstream: Upstream) => UpstreamState
}

/** What the tools of a server are taken from. */
export const sourcesPages =
  ({ frames, toolkitUses, rewiring, upstreams, upstreamReviews, upstreamOffers, stateOf }: Parts) =>
  async (app: FastifyInstance): Promise<void> => {
    const tabPath = '/servers/:uuid/sources'

    const toUpstreamRows = async (actor: Actor, { id, passesOn }: ServerFrame) => {
      const waiting = await upstreamReviews.countWaiting(actor, id)
      // Of one that requests are passed on to nothing is known here.
      const presented = passesOn ? [] : await upstreamOffers.listPresented(id)
      const heard = new Map(
        presented.flatMap(one => (one.hasCatalogue ? [[one.upstream.id, one.tools.length] as const] : [])),
      )
      return (await upstreams.listAllUpstreams(actor, id)).map(found => {
        const counts = { waiting: waiting.get(found.upstream.id), tools: heard.get(found.upstream.id) }
        return toUpstreamRow(found, stateOf(found.upstream), counts)
      })
    }

    app.get(tabPath, { config, schema: serverSchema }, async (request, reply) => {
      const server = await frameOf(frames, request, 'sources')
      const { cursor } = listQuery.parse(request.query)
      const window = idPageOf({ limit: SOURCES_PER_PAGE, cursor })
      const used = await toolkitUses.listUsedToolkits(actorOf(request), server.id, window)
      const page = toPage(used, window.limit, ({ useId }) => useId)
      const panels = Map.groupBy(await rewiring.listPanels(actorOf(request), server.id), ({ toolkit }) => toolkit.id)
      const path = serverTabPath(server.id, 'sources')
      return reply.page('sources/sources', {
        title: `Sources of ${server.name}`,
        server,
        sources: page.items.map(one => toSourceRow(server.id, one, panels.get(one.heldId) ?? [])),
        next: page.nextCursor === null ? undefined : addressOf(path, { cursor: page.nextCursor }),
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
        labels: {},
      }
    }

    app.get(`${tabPath}/new`, { config, schema: serverSchema }, async (request, reply) => {
      const server = await frameForChange(frames, request, 'sources')
      return showForm(reply, await addPage(request, server))
    })

    app.post(`${tabPath}/new`, { config, schema: serverSchema }, async (request, reply) => {
      const server = await frameForChange(frames, request, 'sources')
      const { toolkit } = parseForm(AddForm, request.body)
      return submitForm(reply, await addPage(request, server), async () => {
        if (!z.uuid().safeParse(toolkit).success) throw new AppError('invalid_request', 'Choose a toolkit.')
        const actor = actorOf(request)
        // Sent twice, it must not accept an update that nobody saw.
        const isUsed = (await toolkitUses.findUsedToolkit(actor, server.id, toolkit)) !== undefined
        if (!isUsed) await toolkitUses.useToolkit(actor, server.id, toolkit)
        return redirectDone(reply, serverTabPath(server.id, 'sources'), 'added')
      })
    })

    const open = async (
      request: FastifyRequest,
      server: ServerFrame,
    ): Promise<{ used: UsedToolkit; atWork: WiredPanel[] }> => {
      const actor = actorOf(request)
      const used = await toolkitUses.findUsedToolkit(actor, server.id, Params.parse(request.params).toolkitId)
      if (used === undefined) throw noToolkit()
      const panels = await rewiring.listPanels(actor, server.id)
      return { used, atWork: panels.filter(({ toolkit }) => toolkit.id === used.heldId) }
    }

    const sourcePage = async (request: FastifyRequest, server: ServerFrame): Promise<FormPage> => {
      const { used, atWork } = await open(request, server)
      return {
        view: 'sources/source',
        data: {
          title: `${used.title} in ${server.name}`,
          server,
          path: sourcePath(server.id, used.id),
          listHref: serverTabPath(server.id, 'sources'),
          source: toSourceRow(server.id, used, atWork),
          toolkitHref: toolkitHref(used),
          atWork: toAtWorkList(server.id, atWork),
          difference: used.snapshot?.update && toDifference(used.snapshot.update),
          done: doneNote(request, server, DONE),
        },
        labels: {},
      }
    }

    const sourceRoute = `${tabPath}/:toolkitId`
    app.get(sourceRoute, { config, schema }, async (request, reply) => {
      const server = await frameOf(frames, request, 'sources')
      return showForm(reply, await sourcePage(request, server))
    })

    /** Accepts the waiting update, and none but the one that was seen. */
    app.post(sourceRoute, { config, schema }, async (request, reply) => {
      const server = await frameForChange(frames, request, 'sources')
      const { version } = parseForm(AcceptForm, request.body)
      return submitForm(reply, await sourcePage(request, server), async () => {
        const { toolkitId } = Params.parse(request.params)
        await toolkitUses.useToolkit(actorOf(request), server.id, toolkitId, version)
        return redirectDone(reply, sourcePath(server.id, toolkitId), 'accepted')
      })
    })

    const removalPage = async (request: FastifyRequest, server: ServerFrame, typed: string): Promise<FormPage> => {
      const { used, atWork } = await open(request, server)
      const path = sourcePath(server.id, used.id)
      const list = toAtWorkList(server.id, atWork)
      const copy =
        used.snapshot === undefined
          ? ''
          : ' The copy that this server holds goes; adding it again takes it as it is by then.'
      return {
        view: 'settings/removal',
        data: {
          title: `Remove ${used.title}`,
          server,
          question: `Remove ${used.title}?`,
          consequence:
            atWork.length === 0
              ? `This server uses none of its tools, so nothing stops working.${copy}`
              : 'It cannot be removed while this server uses its tools. Remove these first:',
          blocks: list.items,
          moreBlocks: list.more,
          action: `${path}/remove`,
          back: path,
          name: used.title,
          button: atWork.length === 0 ? 'Remove toolkit' : undefined,
          typed,
        },
        labels: { sure: 'name' },
      }
    }

    app.get(`${sourceRoute}/remove`, { config, schema }, async (request, reply) => {
      const server = await frameForChange(frames, request, 'sources')
      return showForm(reply, await removalPage(request, server, ''))
    })

    app.post(`${sourceRoute}/remove`, { config, schema }, async (request, reply) => {
      const server = await frameForChange(frames, request, 'sources')
      const { sure } = parseForm(RemovalForm, request.body)
      return submitForm(reply, await removalPage(request, server, sure), async () => {
        const { used } = await open(request, server)
        assertTypedName(sure, used.title)
        await toolkitUses.dropToolkit(actorOf(request), server.id, used.id)
        return redirectDone(reply, serverTabPath(server.id, 'sources'), 'removed')
      })
    })
  }
