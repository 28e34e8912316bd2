import type { UpstreamSource } from '../../upstreams/catalogue/present-tools.ts'
import type { Upstream } from '../../upstreams/upstream.ts'
import type { MissingKind } from '../call/compiled-server.ts'

/** `why` is undefined if its offers are known. */
type Known = { upstream: Upstream; why?: () => string }

const explain = (known: readonly Known[], kind: MissingKind): string | undefined => {
  const off = known.find(({ upstream }) => !upstream.config.features[kind])
  if (off !== undefined)
    return `The feature "${kind}" of the MCP server "${off.upstream.name}" is off, so its ${kind} cannot be used`
  const absent = known.find(({ why }) => why !== undefined)
  return absent && `The MCP server "${absent.upstream.name}" is unavailable: ${absent.why?.()}`
}

const namePrefixOf = ({ upstream: { name, config } }: Known): string => `${config.prefix ?? name}_`

/**
 * Explains why something is missing: names the upstream it may belong to and the reason, such as a disabled feature or
 * a failed connection. Tools and prompts carry the upstream's prefix; a URI does not show its upstream.
 */
export const explainMissing = (sources: readonly UpstreamSource[], absent: readonly Required<Known>[]) => {
  // Leaves out the stored catalogues, which the closure would keep in memory.
  const known: readonly Known[] = [...sources.map(({ upstream }) => ({ upstream })), ...absent]
  if (known.length === 0) return undefined
  return (kind: MissingKind, item: string): string | undefined =>
    explain(kind === 'resources' ? known : known.filter(one => item.startsWith(namePrefixOf(one))), kind)
}
