import { isJsonObject } from '../kernel/index.ts'
import { passAddressesOn } from '../upstreams/index.ts'
import type { CallContext, PassedAnswer } from './compiled-server.ts'
import { maskStrings } from './mask-json.ts'
import type { Masker } from './masking.ts'

/** What a client is told that can be asked to open the addresses that an upstream's error names; undefined otherwise. */
export const answerAddresses = (
  error: unknown,
  { link }: Pick<CallContext, 'link'>,
  said: string,
  masker: Masker,
): PassedAnswer | undefined => {
  const found = passAddressesOn(error, link?.peer)
  const hidden = found && maskStrings('passed' in found ? found.passed : found.refused.data, masker)
  if (found === undefined || !isJsonObject(hidden)) return undefined
  return 'passed' in found ? { passed: hidden } : { refused: { code: found.refused.code, message: said, data: hidden } }
}
