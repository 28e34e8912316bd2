import type { RequestOptions } from '@modelcontextprotocol/client'
import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import type { CallLink, ClientPeer, SendLinked } from '../connection/call-link.ts'
import type { UpstreamConnection } from '../connection/connection.ts'
import type { UpstreamClient } from '../connection/open-connection.ts'
import { UpstreamError } from '../connection/upstream-error.ts'
import { type AskedRequest, assertOffered, toOlderRequest } from './asked-requests.ts'
import { lowerLogLevel } from './log-levels.ts'
import { createPatience } from './patience.ts'

/** The type of a result that is none yet: the client is to repeat its request with what it asks for (2026-07-28). */
export const INPUT_REQUIRED = 'input_required'

/** Reserved keys of `_meta` (2026-07-28, basic). */
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel'
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'

/** How often a client with a session is asked for one request; the SDK's own clients give up there too. */
const MAX_ROUNDS = 10

/**
 * What the request itself says in `_meta`: what the client says there, our token for its progress, and in the newer era
 * what it is to know of the client.
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

type Sent = { meta: JsonObject; options: RequestOptions; pause: () => () => void }

/** What a result asks for, as the older era says it. Throws UpstreamError where the client does not offer that. */
const listAsked = (inputRequests: unknown, { capabilities }: ClientPeer): [key: string, AskedRequest][] =>
  Object.entries(isJsonObject(inputRequests) ? inputRequests : {}).map(([key, request]) => {
    const asked = toOlderRequest(request)
    assertOffered(asked, capabilities)
    return [key, asked]
  })

/** Asks a client with a session for each thing that a result asks for. */
const askAll = async (
  peer: ClientPeer & { kind: 'session' },
  inputRequests: unknown,
  { options, pause }: Sent,
): Promise<JsonObject> => {
  const signal = options.signal ?? new AbortController().signal
  const resume = pause()
  try {
    const answered = await Promise.all(
      listAsked(inputRequests, peer).map(
        async ([key, { method, params }]) => [key, await peer.ask(method, params, signal)] as const,
      ),
    )
    return Object.fromEntries(answered)
  } finally {
    resume()
  }
}

/** To an upstream of the newer era, which asks in its results: the stateless client is given them, the other is asked. */
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
    listAsked(result.inputRequests, peer)
    const upstream = typeof result.requestState === 'string' ? result.requestState : undefined
    return { ...result, requestState: peer.seal({ upstream }) }
  }
  let result = await send(client, sent.meta, options)
  for (let round = 0; result.resultType === INPUT_REQUIRED; round++) {
    if (round === MAX_ROUNDS) throw new UpstreamError('protocol', `The upstream asked for more ${MAX_ROUNDS} times.`)
    const inputResponses = await askAll(peer, result.inputRequests, sent)
    const { requestState } = result
    const more = { inputResponses, ...(typeof requestState === 'string' && { requestState }) }
    result = await send(client, sent.meta, options, more)
  }
  return result
}

/** Those whose time does not pass while a client is asked. */
export type Pauses = Set<() => () => void>

/**
 * Sends a request of a client that wants to hear how it goes, and may be asked; what it hears keeps the request from
 * being given up, and so does what it is asked, while it is.
 */
export const askWithLink = async (
  connection: UpstreamConnection,
  link: CallLink,
  signal: AbortSignal,
  send: SendLinked,
  pauses?: Pauses,
): Promise<JsonObject> => {
  const { onProgress, peer } = link
  let touch = (): void => {}
  const heard =
    onProgress &&
    connection.hearProgress(step => {
      touch()
      onProgress(step)
    })
  try {
    return await connection.run(async (client, options) => {
      await lowerLogLevel(client, link.logLevel)
      const meta = metaOf(client, link, heard?.token)
      if (heard === undefined && peer === undefined) return send(client, meta, options)
      const patience = createPatience(options)
      touch = patience.touch
      pauses?.add(patience.pause)
      try {
        if (peer === undefined || client.getProtocolEra() === 'legacy')
          return await send(client, meta, patience.options)
        return await sendModern(client, peer, { meta, options: patience.options, pause: patience.pause }, send)
      } finally {
        pauses?.delete(patience.pause)
        patience.end()
      }
    }, signal)
  } finally {
    heard?.stop()
  }
}
