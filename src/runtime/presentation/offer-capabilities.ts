import { isJsonObject } from '../../lib/kernel/json.ts'
import type { UpstreamSource } from '../../upstreams/catalogue/present-tools.ts'
import { isPerCaller } from '../../upstreams/upstream.ts'
import type { OfferedCapabilities } from '../call/compiled-server.ts'

/** Returns whether an upstream supports resource subscriptions. They require a connection shared by all callers. */
export const canSubscribe = ({ upstream, stored }: UpstreamSource): boolean => {
  const { resources } = stored.catalogue.capabilities
  if (isPerCaller(upstream.config)) return false
  return upstream.config.features.resources && isJsonObject(resources) && resources.subscribe === true
}

export const canComplete = ({ upstream, stored }: UpstreamSource): boolean => {
  const { prompts, resources } = upstream.config.features
  return (prompts || resources) && stored.catalogue.capabilities.completions !== undefined
}

/** Returns the capabilities that a server with these upstreams declares to clients. */
export const offeredCapabilities = (sources: readonly UpstreamSource[]): OfferedCapabilities => ({
  completions: sources.some(canComplete),
  logging: sources.some(({ stored }) => stored.catalogue.capabilities.logging !== undefined),
  subscribe: sources.some(canSubscribe),
})
