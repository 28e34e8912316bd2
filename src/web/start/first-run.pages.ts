import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { signalOf } from '../../lib/http/gone.ts'
import { formText } from '../../lib/http/pages/forms.ts'
import { serverUrl } from '../../lib/kernel/server-url.ts'
import type { ServerService } from '../../servers/servers.service.ts'
import { toPatchFigure } from '../diagram/figure.ts'
import { EMPTY_PATCH } from '../diagram/landing-patch.ts'
import { serverTabPath } from '../frame/server-frame.ts'
import { doneText, userRoute } from '../frame/user-page.ts'
import { toConnectPanel } from '../overview/connect.ts'
import { type AttachedServerPagesParts, addAttachedServerPages } from './attached-server.pages.ts'
import { type CallView, createFirstCall, type FirstCallParts } from './first-call.ts'
import type { Plugged } from './first-run.store.ts'
import { createFirstRun, type FirstRunParts } from './first-run.ts'
import { addPastedRequestPages, type PastedRequestPagesParts } from './pasted-request.pages.ts'
import type { ShowStart } from './show-start.ts'

type Parts = FirstRunParts &
  FirstCallParts &
  PastedRequestPagesParts &
  AttachedServerPagesParts & {
    servers: Pick<ServerService, 'getServer'>
    baseUrl: string
  }

const Query = z.object({ tool: formText })
const NOTES = { 'sample-removed': 'Sample removed. Its address no longer works.' }

type Called = Awaited<ReturnType<ReturnType<typeof createFirstCall>['call']>>

/** Registers the pages that lead from a new installation to the first call. */
export const firstRunPages: FastifyPluginAsync<Parts> = async (app, parts) => {
  const { servers, baseUrl } = parts
  const firstRun = createFirstRun(parts)
  const firstCall = createFirstCall(parts)
  const emptyPatch = toPatchFigure(EMPTY_PATCH)

  const showStart: ShowStart = (reply, page, status = 200) =>
    reply.page(
      'start/first-run',
      { title: 'Create your first tool', section: 'servers', baseUrl, emptyPatch, url: '', ...page },
      { status },
    )

  const showPlugged = async (
    request: FastifyRequest,
    reply: FastifyReply,
    { serverId }: Plugged,
    call: CallView | undefined,
    called?: Called,
  ): Promise<FastifyReply> => {
    const { name, access: tier } = await servers.getServer(actorOf(request), serverId)
    const url = serverUrl(baseUrl, serverId)
    const page = {
      title: called?.isAnswered === true ? 'Your first tool works' : 'Call your first tool',
      section: 'servers' as const,
      serverName: name,
      serverPath: serverTabPath(serverId, 'overview'),
      toolsPath: serverTabPath(serverId, 'tools'),
      globalsPath: serverTabPath(serverId, 'globals'),
      sourcesPath: serverTabPath(serverId, 'sources'),
      inspectorPath: serverTabPath(serverId, 'inspector'),
      url,
      urlLead: serverUrl(baseUrl, ''),
      connect: toConnectPanel({ id: serverId, name, tier, url }),
      live: `${serverTabPath(serverId, 'overview')}/live`,
      call,
      result: called?.result,
      isAnswered: called?.isAnswered === true,
    }
    return reply.page('start/first-call', page, { status: called === undefined || called.result ? 200 : 400 })
  }

  const onTo = (reply: FastifyReply): FastifyReply => reply.redirect('/servers', 303)

  app.get('/first-run', userRoute, async (request, reply) => {
    const actor = actorOf(request)
    const state = await firstRun.getStep(actor)
    if (state.step === 'start') return showStart(reply, { note: doneText(request, NOTES) })
    if (state.step === 'over' || state.isAnswered) return onTo(reply)
    if (state.upstreamId !== undefined) return reply.redirect('/first-run/upstream', 303)
    const { tool } = Query.parse(request.query)
    const call = await firstCall.show(actor, state.serverId, tool === '' ? (state.tool ?? '') : tool)
    return showPlugged(request, reply, state, call)
  })

  app.post('/first-run/sample', userRoute, async (request, reply) =>
    (await firstRun.openSample(actorOf(request))) === undefined ? onTo(reply) : reply.redirect('/first-run', 303),
  )

  app.post('/first-run', userRoute, async (request, reply) => {
    const actor = actorOf(request)
    const state = await firstRun.getStep(actor)
    if (state.step !== 'plugged') return onTo(reply)
    const called = await firstCall.call(actor, state.serverId, request.body, signalOf(reply))
    if (called.isAnswered) await firstRun.recordCall(state)
    return showPlugged(request, reply, state, called.view, called)
  })

  app.post('/first-run/end', userRoute, async (request, reply) => {
    const state = await firstRun.getStep(actorOf(request))
    if (state.step === 'over') return onTo(reply)
    await firstRun.end()
    return state.step === 'plugged' ? reply.redirect(serverTabPath(state.serverId, 'overview'), 303) : onTo(reply)
  })

  addPastedRequestPages(app, parts, firstRun, showStart)
  addAttachedServerPages(app, parts, firstRun, showStart)
}
