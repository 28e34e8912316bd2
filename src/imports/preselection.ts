/** What decides whether an operation is imported although nobody has chosen it. */
type Preselectable = { deprecated: boolean; unsupportedSecurity: readonly string[] }

/** Returns why an operation is imported only if somebody chooses it, after "it". Undefined for all others. */
export const whyLeftOut = ({ deprecated, unsupportedSecurity }: Preselectable): string | undefined => {
  if (deprecated) return 'is deprecated'
  if (unsupportedSecurity.length === 0) return undefined
  return `needs ${unsupportedSecurity.join(', ')}, which tools cannot send`
}
