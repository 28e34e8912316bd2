import type { Upstream, UpstreamSource } from '../upstreams/index.ts'
import type { MissingKind } from './compiled-server.ts'

/** An upstream of which nothing was ever heard, and why. */
export type AbsentUpstream = { upstream: Upstream; why: () => string }

/** Of an upstream, no more is kept. */
type Known = Pick<Upstream, 'name'> & {
  prefix: string
  features: Upstream['config']['features']
  /** Undefined where it is known what it offers. */
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
    return `The feature "${kind}" of the upstream "${off.name}" is off: none of its ${kind} can be used`
  const absent = upstreams.find(({ whyAbsent }) => whyAbsent !== undefined)
  return absent && `The upstream "${absent.name}" cannot be used now: ${absent.whyAbsent?.()}`
}

/**
 * Says of something that is not there which upstream it may be of, and what keeps that from offering it: a feature that is
 * off, or that the upstream was never heard. The name of a tool or prompt begins as its upstream's do; a URI says nothing.
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
