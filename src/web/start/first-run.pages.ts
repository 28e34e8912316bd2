import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { z } from 'zod'
import { actorOf } from '../../lib/http/access.ts'
import { signalOf } from '../../lib/http/gone.ts'
import { type FormPage, formText, parseForm, showForm, submitForm } from '../../lib/http/pages/forms.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { serverUrl } from '../../lib/kernel/server-url.ts'
import { isErrorResult } from '../../runtime/call/tool-result.ts'
import type { ExecutionService } from '../../runtime/execution.service.ts'
import type { InstanceService } from '../../servers/tools/instances.service.ts'
import { toPatchFigure } from '../diagram/figure.ts'
import { EMPTY_PATCH } from '../diagram/landing-patch.ts'
import { serverTabPath } from '../frame/server-frame.ts'
import { doneText, userRoute } from '../frame/user-page.ts'
import { toConnectPanel } from '../overview/connect.ts'
import { createFirstRun, type FirstRunParts } from './first-run.ts'

type Parts = FirstRunParts & {
  instances: Pick<InstanceService, 'createInstance' | 'listAllInstances'>
  execution: Pick<ExecutionService, 'callInstance' | 'listExecutions'>
  baseUrl: string
}

const CallForm = { from: formText, to: formText, amount: formText }
const TYPED = { from: 'EUR', to: 'JPY', amount: '100' }
const NOTES = { 'sample-removed': 'Sample removed. Its address no longer works.' }
const LABELS = { from: 'currency', to: 'currency', amount: 'amount' }
/** The sample tool called on this page. */
const TOOL = 'convert_currency'

const Text = z.object({ type: z.literal('text'), text: z.string() })

/** Registers the first-run page, on which users add the sample API, connect a client and call a tool. */
export const firstRunPages: FastifyPluginAsync<Parts> = async (app, parts) => {
  const { instances, execution, baseUrl } = parts
  const firstRun = createFirstRun(parts)
  const emptyPatch = toPatchFigure(EMPTY_PATCH)
  const base = { title: 'Get started', section: 'servers', baseUrl, emptyPatch, tool: TOOL } as const

  const startPage = (note: string | undefined): FormPage => ({
    view: 'start/first-run',
    data: { ...base, isPlugged: false, note },
    labels: {},
  })

  const pluggedPage = (serverId: string, more: { typed?: typeof TYPED; result?: string }): FormPage => {
    const url = serverUrl(baseUrl, serverId)
    const { clients } = toConnectPanel({ id: serverId, name: 'Sample desk', tier: 'public', url })
    const command = clients.find(({ id }) => id === 'connect-claude-code')?.snippets[0]?.code
    return {
      view: 'start/first-run',
      data: {
        ...base,
        isPlugged: true,
        url,
        urlLead: serverUrl(baseUrl, ''),
        command,
        live: `${serverTabPath(serverId, 'overview')}/live`,
        serverPath: serverTabPath(serverId, 'overview'),
        typed: more.typed ?? TYPED,
        result: more.result,
        scripts: ['server-live'],
      },
      labels: LABELS,
    }
  }

  const onTo = (reply: FastifyReply): FastifyReply => reply.redirect('/servers', 303)

  app.get('/first-run', userRoute, async (request, reply) => {
    const actor = actorOf(request)
    const state = await firstRun.getStep(actor)
    if (state.step === 'start') return showForm(reply, startPage(doneText(request, NOTES)))
    if (state.step === 'over' || state.isAnswered) return onTo(reply)
    return showForm(reply, pluggedPage(state.serverId, {}))
  })

  app.post('/first-run/sample', userRoute, async (request, reply) => {
    const serverId = await firstRun.addSample(actorOf(request))
    return serverId === undefined ? onTo(reply) : reply.redirect('/first-run', 303)
  })

  const call = async (actor: Actor, serverId: string, typed: typeof TYPED, signal: AbortSignal): Promise<string> => {
    const all = await instances.listAllInstances(actor, serverId)
    const instance = all.find(({ name }) => name === TOOL)
    if (instance === undefined) throw new AppError('not_found', `The server no longer has the tool ${TOOL}.`)
    const amount = Number(typed.amount)
    if (typed.amount.trim() === '' || !Number.isFinite(amount)) {
      throw new AppError('invalid_request', 'The amount must be a number.', {
        errors: [{ path: 'amount', message: 'must be a number, such as 100' }],
      })
    }
    const result = await execution.callInstance(actor, instance.id, { from: typed.from, to: typed.to, amount }, signal)
    const text = 'content' in result ? Text.safeParse(result.content[0]).data?.text : undefined
    if (isErrorResult(result)) throw new AppError('invalid_request', text ?? 'The call failed.')
    return text ?? ''
  }

  app.post('/first-run/call', userRoute, async (request, reply) => {
    const actor = actorOf(request)
    const state = await firstRun.getStep(actor)
    if (state.step !== 'plugged') return onTo(reply)
    const typed = parseForm(CallForm, request.body)
    return submitForm(
      reply,
      () => pluggedPage(state.serverId, { typed }),
      async () => {
        const text = await call(actor, state.serverId, typed, signalOf(reply))
        await firstRun.recordCall(state.serverId)
        return showForm(reply, pluggedPage(state.serverId, { typed, result: text }))
      },
    )
  })

  app.post('/first-run/end', userRoute, async (request, reply) => {
    const actor = actorOf(request)
    const state = await firstRun.getStep(actor)
    if (state.step === 'over') return onTo(reply)
    await firstRun.end()
    return state.step === 'plugged' ? reply.redirect(serverTabPath(state.serverId, 'overview'), 303) : onTo(reply)
  })
}
