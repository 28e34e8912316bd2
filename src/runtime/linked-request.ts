import { isJsonObject, type JsonObject } from '../kernel/index.ts'
import type { CallLink, UpstreamExchange } from '../upstreams/index.ts'
import { maskStrings } from './mask-json.ts'
import type { Masker } from './masking.ts'

type Tell = (params: JsonObject) => void

const masked = (tell: Tell | undefined, masker: Masker): Tell | undefined =>
  tell === undefined || masker.isEmpty ? tell : params => tell(maskObject(params, masker))

const maskObject = (params: JsonObject, masker: Masker): JsonObject => {
  const hidden = maskStrings(params, masker)
  return isJsonObject(hidden) ? hidden : {}
}

/** What a client without a session is asked is in the result, and masked with it. */
const maskPeer = (peer: CallLink['peer'], masker: Masker): CallLink['peer'] =>
  peer?.kind !== 'session'
    ? peer
    : {
        ...peer,
        ask: (method, params, signal) => peer.ask(method, maskObject(params, masker), signal),
        tell: (method, params) => peer.tell(method, maskObject(params, masker)),
      }

/** Nothing of a secret's value in what the client hears, and is asked. */
const maskLink = (link: CallLink, masker: Masker): CallLink =>
  masker.isEmpty
    ? link
    : {
        ...link,
        onProgress: masked(link.onProgress, masker),
        onLog: masked(link.onLog, masker),
        peer: maskPeer(link.peer, masker),
      }

/** Runs a request to an upstream, to whose client log messages are told meanwhile where there is a link to it. */
export const withLink = async <T>(
  link: CallLink | undefined,
  upstreamId: string,
  masker: Masker,
  { logs, route }: Pick<UpstreamExchange, 'logs' | 'route'>,
  work: (link: CallLink | undefined) => Promise<T>,
): Promise<T> => {
  const own = link && route(upstreamId, maskLink(link, masker))
  // What it logs for somebody who does not listen is for nobody else.
  const end = logs.begin(upstreamId, own ?? { origin: {} })
  try {
    return await work(own)
  } finally {
    end()
  }
}

export const maskedTell = (tell: Tell, masker: Masker): Tell => masked(tell, masker) ?? tell
