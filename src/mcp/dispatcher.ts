import { isLongText, isPassed, isRefused } from '../execution/index.ts'
import { isJsonObject, type JsonObject } from '../kernel/index.ts'
import { type Answer, bytesAnswer, errorAnswer, invalidParams, type Refusal, refusal, resultAnswer } from './answer.ts'
import type { Call } from './call.ts'
import { findGroupLists } from './groups.ts'
import type { Era } from './listing.ts'
import type { RequestId, RequestMessage } from './message.ts'
import { ERROR } from './protocol.ts'
import { renderLongText, renderPassed, renderSessionResult, renderStatelessResult } from './result.ts'
import type { RoutedTool, Router } from './router.ts'

/** Told of what should never happen; the caller learns nothing of it. */
export type ReportFault = (error: unknown, message: string) => void

const refuse = (id: RequestId, reason: Refusal): Answer => errorAnswer(id, reason)

/** The tool that a tools/call names, or why there is none (server/tools, "Error Handling"). */
export const findTool = (router: Router, params: JsonObject | undefined): RoutedTool | Refusal => {
  const name = params?.name
  if (typeof name !== 'string') return invalidParams('Invalid params: name is missing or no string')
  const args = params?.arguments
  if (args !== undefined && !isJsonObject(args)) return invalidParams('Invalid params: arguments is no object')
  const tool = router.tools.get(name)
  return tool ?? invalidParams(router.server.explainMissing?.('tools', name) ?? `Unknown tool: ${name}`)
}
export const isRefusal = (found: RoutedTool | Refusal): found is Refusal => 'code' in found

/** Runs a tool; the answer carries its result, also where that is an error the model can read and mend. */
export const callTool = async (
  router: Router,
  { tool, isOutputWrapped }: RoutedTool,
  { id, params }: RequestMessage,
  call: Call,
  era: Era,
  report: ReportFault,
): Promise<Answer> => {
  try {
    const result = await tool.call(params?.arguments ?? {}, call)
    if (call.account !== undefined) router.server.noteSent?.(call, result)
    if (isRefused(result)) return refuse(id, { status: 200, ...result.refused })
    if (isPassed(result)) return resultAnswer(id, renderPassed(router, result, era, isOutputWrapped))
    if (isLongText(result)) return bytesAnswer(id, renderLongText(router, result, era))
    const text =
      era === 'stateless' ? renderStatelessResult(router, result) : renderSessionResult(result, isOutputWrapped)
    return resultAnswer(id, text)
  } catch (error) {
    report(error, 'a tool call failed without a result')
    return refuse(id, refusal(200, ERROR.internal, 'Internal error'))
  }
}

/** A page of one of the lists; undefined when the method lists nothing. */
export const answerList = (router: Router, { id, method, params }: RequestMessage, era: Era): Answer | undefined => {
  const listing = router.lists.get(method)
  if (listing === undefined) return undefined
  const group = router.groups && findGroupLists(router.groups, method, params)
  if (group !== undefined && 'code' in group) return refuse(id, group)
  const page = (group?.lists.get(method) ?? listing).find(params?.cursor, era)
  return page === undefined
    ? refuse(id, invalidParams('Invalid params: unknown cursor'))
    : bytesAnswer(id, { head: (group?.head ?? router.listHead)[era], rest: [page] })
}

const SUBSCRIBING: ReadonlySet<string> = new Set(['resources/subscribe', 'resources/unsubscribe'])

/** Resources and prompts that no upstream has: asking for one by name is asking for an unknown one. */
export const answerMissing = (
  { server, offers }: Router,
  { id, method, params }: RequestMessage,
): Answer | undefined => {
  if (method === 'resources/read' || (SUBSCRIBING.has(method) && offers !== undefined)) {
    const uri = params?.uri
    if (typeof uri !== 'string') return refuse(id, invalidParams('Invalid params: uri is missing or no string'))
    const why = server.explainMissing?.('resources', uri)
    return refuse(id, invalidParams(`Resource not found: ${uri}${why === undefined ? '' : `. ${why}`}`, { uri }))
  }
  if (method === 'completion/complete' && offers !== undefined) {
    return refuse(id, invalidParams('Invalid params: ref names no prompt and no resource template of this server'))
  }
  if (method === 'prompts/get') {
    const name = params?.name
    if (typeof name !== 'string') return refuse(id, invalidParams('Invalid params: name is missing or no string'))
    return refuse(id, invalidParams(server.explainMissing?.('prompts', name) ?? `Unknown prompt: ${name}`))
  }
  return undefined
}

/** An unknown method has an HTTP status of its own in the stateless era only (2026-07-28, basic/transports). */
export const answerUnknown = ({ id, method }: RequestMessage, era: Era): Answer =>
  refuse(id, refusal(era === 'stateless' ? 404 : 200, ERROR.methodNotFound, `Method not found: ${method}`))

const answerDiscover = (router: Router, { id }: RequestMessage): Answer => resultAnswer(id, router.discover)

/** What the stateless era answers at once: all that is neither a call nor a subscription, for which it has a stream. */
export const answerAtOnce = (router: Router, message: RequestMessage): Answer => {
  if (message.method === 'server/discover') return answerDiscover(router, message)
  if (SUBSCRIBING.has(message.method)) return answerUnknown(message, 'stateless')
  return (
    answerList(router, message, 'stateless') ?? answerMissing(router, message) ?? answerUnknown(message, 'stateless')
  )
}
