import type { EventBus } from '../../lib/events/event-bus.ts'
import type { Lifecycle } from '../../lib/process/lifecycle.ts'
import { createReverseProxy } from '../proxy/reverse-proxy.ts'
import { createPassthroughs, type PassthroughsParts } from './passthroughs.ts'

export type PassthroughNeeds = {
  bus: EventBus
  network: Parameters<typeof createReverseProxy>[0]
  accounts: PassthroughsParts['accounts']
}

export const passthroughPlugin = ({ bus, network, accounts }: PassthroughNeeds, lifecycle: Lifecycle) => {
  const reverseProxy = createReverseProxy(network)
  lifecycle.onClose(reverseProxy.close)
  const passthroughs = createPassthroughs({ probe: reverseProxy.probe, accounts, bus })
  lifecycle.onClose(passthroughs.close)
  return { reverseProxy, passthroughs }
}
