import type { MaskingRule } from '../../../servers/masking/masking-rule.ts'
import { maskByRules } from './mask-by-rules.ts'
import { createRuleSearch } from './rule-search.ts'

export type MaskByRulesJob = { rules: readonly MaskingRule[]; utf8: Uint8Array }

/** Returns the masked text in memory that threads share, or undefined if no rule matches. */
export const runMaskByRulesJob = ({ rules, utf8 }: MaskByRulesJob): Uint8Array | undefined => {
  const text = Buffer.from(utf8.buffer, utf8.byteOffset, utf8.byteLength).toString('utf8')
  const masked = maskByRules(text, createRuleSearch(rules).find)
  if (masked === text) return undefined
  const shared = Buffer.from(new SharedArrayBuffer(Buffer.byteLength(masked)))
  shared.write(masked)
  return shared
}
