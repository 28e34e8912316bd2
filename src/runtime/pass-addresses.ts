import { isJsonObject } from '../lib/kernel/json.ts'
import { maskStrings } from '../results/mask/mask-json.ts'
import type { Masker } from '../results/mask/masking.ts'
import { passOnUrls } from '../upstreams/conversation/requested-urls.ts'
import type { CallContext } from './call/compiled-tool.ts'
import type { UpstreamResult } from './call/tool-result.ts'

/**
 * If an upstream's error names addresses to open, and the client can be asked to open them, returns that request;
 * otherwise undefined.
 */
export const askToOpenAddresses = (
  error: unknown,
  { link }: Pick<CallContext, 'link'>,
  said: string,
  masker: Masker,
): UpstreamResult | undefined => {
  const found = passOnUrls(error, link?.peer)
  const hidden = found && maskStrings('passed' in found ? found.passed : found.refused.data, masker)
  if (found === undefined || !isJsonObject(hidden)) return undefined
  return 'passed' in found ? { passed: hidden } : { refused: { code: found.refused.code, message: said, data: hidden } }
}
