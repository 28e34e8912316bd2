import type { Masker } from '../results/mask/masking.ts'
import { passOnUrls } from '../upstreams/conversation/requested-urls.ts'
import type { CallContext } from './call/compiled-tool.ts'
import type { UpstreamResult } from './call/tool-result.ts'

/**
 * Returns a result that asks the client to open the URLs named in an upstream's error. Returns undefined if the error
 * names none, or if the client cannot be asked to open URLs.
 */
export const askToOpenAddresses = (
  error: unknown,
  { link }: Pick<CallContext, 'link'>,
  said: string,
  masker: Masker,
): UpstreamResult | undefined => {
  const found = passOnUrls(error, link?.peer)
  if (found === undefined) return undefined
  if ('passed' in found) return { passed: masker.object(found.passed) }
  const { code, data } = found.refused
  return { refused: { code, message: said, data: masker.object(data) } }
}
