import type { RequestOptions } from '@modelcontextprotocol/client'
import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import type { CallLink, ClientPeer, SendLinked } from '../connection/call-link.ts'
import type { UpstreamConnection } from '../connection/connection.ts'
import { mcpClient } from '../connection/mcp-client.ts'
import type { UpstreamClient } from '../connection/open-connection.ts'
import { UpstreamError } from '../connection/upstream-error.ts'
import { assertSupported, type InputRequest, toSessionRequest } from './input-requests.ts'
import { lowerLogLevel } from './upstream-logs.ts'

/** Maximum duration of a request, regardless of progress and questions. */
const MAX_REQUEST_MS = 30 * 60_000

/**
 * A timeout that restarts on activity: `touch` restarts it, `pause` stops it. Pass `options` to the client's method.
 */
const createActivityTimeout = ({ timeout = MAX_REQUEST_MS, signal, ...rest }: RequestOptions) => {
  const controller = new AbortController()
  let pauses = 0
  const giveUp = (): void => {
    if (pauses > 0) timer.refresh()
    // Aborts with the SDK's own timeout error, to distinguish a timeout from a cancellation.
    else {
      const { SdkError, SdkErrorCode } = mcpClient()
      controller.abort(new SdkError(SdkErrorCode.RequestTimeout, 'Request timed out', { timeout }))
    }
  }
  const timer = setTimeout(giveUp, timeout)
  const onAbort = (): void => controller.abort(signal?.reason)
  if (signal?.aborted) onAbort()
  signal?.addEventListener('abort', onAbort, { once: true })
  return {
    options: { ...rest, timeout: MAX_REQUEST_MS, signal: controller.signal },
    touch: (): void => void timer.refresh(),
    pause: (): (() => void) => {
      pauses++
      return () => {
        pauses--
        timer.refresh()
      }
    },
    end: (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    },
  }
}

/** The result type that asks the client to repeat its request with more input (2026-07-28). */
export const INPUT_REQUIRED = 'input_required'

/** Reserved `_meta` keys (2026-07-28, basic). */
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel'
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'

/** Maximum number of times that a client with a session is asked during one request, as in the SDK's clients. */
const MAX_ROUNDS = 10

/**
 * Builds `_meta`: the client's own entries, our progress token and, for stateless upstreams, the
 * client's log level and capabilities.
 */
const metaOf = (
  client: UpstreamClient,
  { logLevel, peer, meta }: CallLink,
  progressToken: string | undefined,
): JsonObject => ({
  ...meta,
  ...(progressToken !== undefined && { progressToken }),
  ...(client.getProtocolEra() === 'modern' && {
    ...(logLevel !== undefined && { [LOG_LEVEL]: logLevel }),
    ...(peer !== undefined && { [CAPABILITIES]: peer.capabilities }),
  }),
})

type Sent = Pick<ReturnType<typeof createActivityTimeout>, 'options' | 'pause'> & { meta: JsonObject }

/** Returns the requested input as session-era requests. Throws UpstreamError if the client does not support one. */
const listRequestedInput = (inputRequests: unknown, { capabilities }: ClientPeer): [key: string, InputRequest][] =>
  Object.entries(isJsonObject(inputRequests) ? inputRequests : {}).map(([key, request]) => {
    const inputRequest = toSessionRequest(request)
    assertSupported(inputRequest, capabilities)
    return [key, inputRequest]
  })

const askForInput = async (
  peer: ClientPeer & { kind: 'session' },
  inputRequests: unknown,
  { options, pause }: Sent,
): Promise<JsonObject> => {
  const resume = pause()
  try {
    const answered = await Promise.all(
      listRequestedInput(inputRequests, peer).map(
        async ([key, { method, params }]) => [key, await peer.ask(method, params, options.signal)] as const,
      ),
    )
    return Object.fromEntries(answered)
  } finally {
    resume()
  }
}

/**
 * Sends a request to a stateless upstream, which asks for input in its results. A stateless client receives this
 * result. A client with a session receives requests instead.
 */
const sendModern = async (
  client: UpstreamClient,
  peer: ClientPeer,
  sent: Sent,
  send: SendLinked,
): Promise<JsonObject> => {
  const options = { ...sent.options, allowInputRequired: true }
  if (peer.kind === 'stateless') {
    const { inputResponses, requestState } = peer
    const more = {
      ...(inputResponses !== undefined && { inputResponses }),
      ...(requestState?.upstream !== undefined && { requestState: requestState.upstream }),
    }
    const result = await send(client, sent.meta, options, more)
    if (result.resultType !== INPUT_REQUIRED) return result
    listRequestedInput(result.inputRequests, peer)
    const upstream = typeof result.requestState === 'string' ? result.requestState : undefined
    return { ...result, requestState: peer.issueState({ upstream }) }
  }
  let result = await send(client, sent.meta, options)
  for (let round = 0; result.resultType === INPUT_REQUIRED; round++) {
    if (round === MAX_ROUNDS)
      throw new UpstreamError('protocol', `The MCP server asked for more input ${MAX_ROUNDS} times.`)
    const inputResponses = await askForInput(peer, result.inputRequests, sent)
    const { requestState } = result
    const more = { inputResponses, ...(typeof requestState === 'string' && { requestState }) }
    result = await send(client, sent.meta, options, more)
  }
  return result
}

/** Functions that pause request timeouts while the client is asked. */
export type Pauses = Set<() => () => void>

/**
 * Sends a request for a client that receives progress or can be asked. Progress restarts the request's timeout, and
 * questions pause it.
 */
export const sendWithLink = async (
  connection: UpstreamConnection,
  link: CallLink,
  signal: AbortSignal,
  send: SendLinked,
  pauses?: Pauses,
): Promise<JsonObject> => {
  const { onProgress, peer } = link
  let touch = (): void => {}
  const progress =
    onProgress &&
    connection.onProgress(step => {
      touch()
      onProgress(step)
    })
  try {
    return await connection.run(async (client, options) => {
      await lowerLogLevel(client, link.logLevel)
      const meta = metaOf(client, link, progress?.token)
      if (progress === undefined && peer === undefined) return send(client, meta, options)
      const activity = createActivityTimeout(options)
      touch = activity.touch
      pauses?.add(activity.pause)
      try {
        if (peer === undefined || client.getProtocolEra() === 'legacy')
          return await send(client, meta, activity.options)
        return await sendModern(client, peer, { meta, ...activity }, send)
      } finally {
        pauses?.delete(activity.pause)
        activity.end()
      }
    }, signal)
  } finally {
    progress?.stop()
  }
}
