/** The part of an operation that decides whether it is selected at first. */
type Preselectable = { deprecated: boolean; unsupportedSecurity: readonly string[] }

/** Returns why an operation is not selected at first, as the rest of a sentence about "it". Undefined if it may be. */
export const whyLeftOut = ({ deprecated, unsupportedSecurity }: Preselectable): string | undefined => {
  if (deprecated) return 'is deprecated'
  if (unsupportedSecurity.length === 0) return undefined
  return `needs ${unsupportedSecurity.join(', ')}, which tools cannot send`
}

/** Rule of the finding that an operation sends the same request as a tool of the toolkit, or as an earlier operation. */
export const DUPLICATE_RULE = 'duplicate'
