import type { UpstreamSource } from '../../upstreams/catalogue/present-tools.ts'
import type { Upstream } from '../../upstreams/upstream.ts'
import type { MissingKind } from '../call/compiled-server.ts'

/** `why` explains why the upstream's catalogue is unknown. Undefined if it is known. */
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
 * Returns a function that explains why an item is missing. The explanation names the upstream that may have the item
 * and a reason, such as a disabled feature or a failed connection. The names of tools and prompts start with their
 * upstream's prefix, but a URI does not identify its upstream.
 */
export const explainMissing = (sources: readonly UpstreamSource[], absent: readonly Required<Known>[]) => {
  // Omits the stored catalogues, which the closure would otherwise keep in memory.
  const known: readonly Known[] = [...sources.map(({ upstream }) => ({ upstream })), ...absent]
  if (known.length === 0) return undefined
  return (kind: MissingKind, item: string): string | undefined =>
    explain(kind === 'resources' ? known : known.filter(one => item.startsWith(namePrefixOf(one))), kind)
}
