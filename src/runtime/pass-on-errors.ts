import type { Masker } from '../results/mask/masking.ts'
import { findErrorResponse, findMissingCapabilities } from '../upstreams/connection/error-responses.ts'
import { passOnUrls } from '../upstreams/conversation/requested-urls.ts'
import type { CallContext } from './call/compiled-tool.ts'
import type { UpstreamResult } from './call/tool-result.ts'

/**
 * Passes on errors that clients handle in code: the error that names the capabilities that the client lacks, and the
 * request to open URLs. Returns undefined for other errors, which are explained in a text, and if the client cannot be
 * asked to open URLs. `why` explains the error.
 */
export const passOnError = (
  error: unknown,
  { link }: Pick<CallContext, 'link'>,
  why: string,
  masker: Masker,
): UpstreamResult | undefined => {
  const missing = findMissingCapabilities(error)
  const said = findErrorResponse(error, masker.text)
  if (missing !== undefined && said !== undefined) return { refused: { ...said, data: masker.object(missing) } }
  const found = passOnUrls(error, link?.peer)
  if (found === undefined) return undefined
  if ('passed' in found) return { passed: masker.object(found.passed) }
  const { code, data } = found.refused
  return { refused: { code, message: why, data: masker.object(data) } }
}
