import type { UpstreamSource } from '../../upstreams/catalogue/present-tools.ts'
import type { Upstream } from '../../upstreams/upstream.ts'
import type { MissingKind } from '../call/compiled-server.ts'

export type AbsentUpstream = { upstream: Upstream; why: () => string }

/** The part of an upstream that is needed here. */
type Known = Pick<Upstream, 'name'> & {
  prefix: string
  features: Upstream['config']['features']
  /** Undefined if its offers are known. */
  whyAbsent: (() => string) | undefined
}

const toKnown = ({ name, config }: Upstream, whyAbsent: Known['whyAbsent']): Known => ({
  name,
  prefix: `${config.prefix ?? name}_`,
  features: config.features,
  whyAbsent,
})

const explain = (upstreams: readonly Known[], kind: MissingKind): string | undefined => {
  const off = upstreams.find(({ features }) => !features[kind])
  if (off !== undefined)
    return `The feature "${kind}" of the upstream "${off.name}" is off, so its ${kind} cannot be used`
  const absent = upstreams.find(({ whyAbsent }) => whyAbsent !== undefined)
  return absent && `The upstream "${absent.name}" is unavailable: ${absent.whyAbsent?.()}`
}

/**
 * Explains why something is missing: names the upstream it may belong to and what keeps that from offering it, such as
 * a disabled feature or a failed connection. Tools and prompts carry their upstream's prefix; a URI does not tell.
 */
export const explainMissing = (sources: readonly UpstreamSource[], absent: readonly AbsentUpstream[]) => {
  const known = [
    ...sources.map(({ upstream }) => toKnown(upstream, undefined)),
    ...absent.map(({ upstream, why }) => toKnown(upstream, why)),
  ]
  if (known.length === 0) return undefined
  return (kind: MissingKind, item: string): string | undefined =>
    explain(kind === 'resources' ? known : known.filter(({ prefix }) => item.startsWith(prefix)), kind)
}
