import { isJsonObject, type JsonObject } from '../kernel/index.ts'
import type { CallLink, UpstreamExchange } from '../upstreams/index.ts'
import type { Masker } from './masking.ts'
import { maskStrings } from './shape.ts'

type Tell = (params: JsonObject) => void

const masked = (tell: Tell | undefined, masker: Masker): Tell | undefined =>
  tell === undefined || masker.isEmpty
    ? tell
    : params => {
        const hidden = maskStrings(params, masker)
        if (isJsonObject(hidden)) tell(hidden)
      }

/** Nothing of a secret's value in what the client hears. */
const maskLink = (link: CallLink, masker: Masker): CallLink =>
  masker.isEmpty ? link : { ...link, onProgress: masked(link.onProgress, masker), onLog: masked(link.onLog, masker) }

/** Runs a request to an upstream, to whose client log messages are told meanwhile where there is a link to it. */
export const withLink = async <T>(
  link: CallLink | undefined,
  upstreamId: string,
  masker: Masker,
  { logs, route }: Pick<UpstreamExchange, 'logs' | 'route'>,
  work: (link: CallLink | undefined) => Promise<T>,
): Promise<T> => {
  if (link === undefined) return work(undefined)
  const own = route(upstreamId, maskLink(link, masker))
  const end = logs.begin(upstreamId, own)
  try {
    return await work(own)
  } finally {
    end()
  }
}

export const maskedTell = (tell: Tell, masker: Masker): Tell => masked(tell, masker) ?? tell
