import type { JsonObject } from '../lib/kernel/json.ts'
import type { Masker } from '../results/mask/masking.ts'
import type { CallLink } from '../upstreams/connection/call-link.ts'
import type { UpstreamConversation } from '../upstreams/conversation/upstream-conversation.ts'

type Tell = (params: JsonObject) => void

export const maskedTell = (tell: Tell, masker: Masker): Tell =>
  masker.isEmpty ? tell : params => tell(masker.object(params))

/**
 * Masks messages to clients with a session. Requests to stateless clients are part of the result, which is masked
 * anyway.
 */
const maskPeer = (peer: CallLink['peer'], masker: Masker): CallLink['peer'] =>
  peer?.kind !== 'session'
    ? peer
    : {
        ...peer,
        ask: (method, params, signal) => peer.ask(method, masker.object(params), signal),
        notify: (method, params) => peer.notify(method, masker.object(params)),
      }

/** Masks secrets in everything that the client receives over the link. */
const maskLink = (link: CallLink, masker: Masker): CallLink =>
  masker.isEmpty
    ? link
    : {
        ...link,
        onProgress: link.onProgress && maskedTell(link.onProgress, masker),
        onLog: link.onLog && maskedTell(link.onLog, masker),
        peer: maskPeer(link.peer, masker),
      }

/** Runs a request to an upstream. If there is a link, the upstream's log messages go to the client meanwhile. */
export const withLink = async <T>(
  link: CallLink | undefined,
  upstreamId: string,
  masker: Masker,
  { logs, route }: Pick<UpstreamConversation, 'logs' | 'route'>,
  work: (link: CallLink | undefined) => Promise<T>,
): Promise<T> => {
  const own = link && route(upstreamId, maskLink(link, masker))
  // Registered even without a link, so that log messages of this call do not go to another client.
  const end = logs.startCall(upstreamId, own ?? { origin: {} })
  try {
    return await work(own)
  } finally {
    end()
  }
}
