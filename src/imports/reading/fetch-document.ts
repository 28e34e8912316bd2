import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { type HttpClient, isSuccess, OutboundError } from '../../lib/outbound/outbound-request.ts'

/** Large descriptions come from slow servers, but nobody waits longer for a page. */
const TIMEOUT_MS = 30_000
const ACCEPT = 'application/vnd.oai.openapi+json, application/json, application/yaml, text/yaml, */*;q=0.5'

export type FetchedDocument = {
  bytes: Uint8Array
  /** After redirects. Its references are relative to it. */
  url: string
  etag: string | undefined
  lastModified: string | undefined
}

export type FetchOptions = {
  organizationId: string
  maxBytes: number
  signal: AbortSignal
  /** The origins that may be asked. Undefined for every one that the address guard allows. */
  origins?: ReadonlySet<string>
}

const headerOf = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value)

/** Fetches a document through the address guard. The error is a sentence, which names the host at most. */
export const fetchDocument = async (
  { send }: Pick<HttpClient, 'send'>,
  url: string,
  { organizationId, maxBytes, signal, origins }: FetchOptions,
): Promise<Result<FetchedDocument, string>> => {
  const limits = { timeoutMs: TIMEOUT_MS, maxResponseBytes: maxBytes, signal }
  const mayReach = origins === undefined ? undefined : (origin: string) => origins.has(origin)
  try {
    const response = await send({
      ...{ organizationId, method: 'GET', url, headers: [['accept', ACCEPT]], mayReach },
      ...limits,
    })
    if (!isSuccess(response)) {
      return failure(`${new URL(response.url).host} responded with the status ${response.status}.`)
    }
    const { headers } = response
    const [etag, lastModified] = [headerOf(headers.etag), headerOf(headers['last-modified'])]
    return success({ bytes: new Uint8Array(response.body), url: response.url, etag, lastModified })
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    return failure(`It could not be fetched: ${error.message}.`)
  }
}
