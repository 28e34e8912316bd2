import type { PassedAnswer } from '../execution/index.ts'
import { isJsonObject } from '../kernel/index.ts'
import { type Answer, errorAnswer, refusal, resultAnswer } from './answer.ts'
import type { Call } from './call.ts'
import type { ReportFault } from './dispatcher.ts'
import { groupOf } from './groups.ts'
import type { Era } from './listing.ts'
import type { RequestMessage } from './message.ts'
import { ERROR } from './protocol.ts'
import { isInputRequired, renderPassed } from './result.ts'
import type { Router } from './router.ts'

/** What only an upstream can answer. */
const ASKING: ReadonlySet<string> = new Set(['resources/read', 'prompts/get', 'completion/complete'])

/** Whether the request may have to be asked of an upstream: if so, it is under way like a call. */
export const mayBeAsked = ({ offers }: Router, { method }: RequestMessage): boolean =>
  offers !== undefined && ASKING.has(method)

const send = ({ offers }: Router, { method, params }: RequestMessage, call: Call) => {
  if (method === 'resources/read') {
    return typeof params?.uri === 'string' ? offers?.readResource(params.uri, call, groupOf(params)) : undefined
  }
  if (method === 'completion/complete') {
    return params === undefined ? undefined : offers?.complete(params, call, groupOf(params))
  }
  const args = params?.arguments
  if (typeof params?.name !== 'string' || (args !== undefined && !isJsonObject(args))) return undefined
  return offers?.getPrompt(params.name, args, call, groupOf(params))
}

/** The stateless era wants it said how long what was read may be kept: not at all, unless the upstream says so. */
const UNKEPT = { ttlMs: 0, cacheScope: 'private' } as const

/** By which the session era says that there is no such resource (server/resources); the stateless one does otherwise. */
const RESOURCE_NOT_FOUND = -32_002
const codeFor = (code: number, era: Era): number =>
  era === 'stateless' && code === RESOURCE_NOT_FOUND ? ERROR.invalidParams : code

/** Asks an upstream; undefined where none has what the request names, or it names nothing. */
export const askUpstream = (
  router: Router,
  request: RequestMessage,
  call: Call,
  era: Era,
  report: ReportFault,
): Promise<Answer> | undefined => {
  const { id } = request
  const render = (answered: PassedAnswer): Answer => {
    if ('refused' in answered) {
      const { code, message, data } = answered.refused
      return errorAnswer(id, refusal(200, codeFor(code, era), message, data))
    }
    const isRead = era === 'stateless' && request.method === 'resources/read'
    const passed = isRead && !isInputRequired(answered.passed) ? { ...UNKEPT, ...answered.passed } : answered.passed
    return resultAnswer(id, renderPassed(router, { passed }, era, false))
  }
  return send(router, request, call)
    ?.then(render)
    .catch((error: unknown) => {
      report(error, 'an upstream was asked without an answer')
      return errorAnswer(id, refusal(200, ERROR.internal, 'Internal error'))
    })
}
