import { setTimeout as wait } from 'node:timers/promises'
import type { Client, Notification, SubscriptionFilter } from '@modelcontextprotocol/client'

export type ListeningOptions = {
  client: Client
  timeoutMs: number
  onNotification: (notification: Notification) => void
  signal: AbortSignal
}

/** Initial delay, which doubles after every short-lived stream. */
const FIRST_DELAY_MS = 1_000
const MAX_DELAY_MS = 60_000
/** A stream that lasts at least this long resets the delay. */
const STABLE_MS = 10_000

const filterOf = (client: Client): SubscriptionFilter => {
  const { tools, prompts, resources } = client.getServerCapabilities() ?? {}
  return {
    ...(tools?.listChanged && { toolsListChanged: true }),
    ...(prompts?.listChanged && { promptsListChanged: true }),
    ...(resources?.listChanged && { resourcesListChanged: true }),
  }
}

const METHODS: Readonly<Record<string, string>> = {
  toolsListChanged: 'notifications/tools/list_changed',
  promptsListChanged: 'notifications/prompts/list_changed',
  resourcesListChanged: 'notifications/resources/list_changed',
}

/**
 * Subscribes to list changes, which stateless upstreams send only on request. Reports all lists as changed after a
 * reconnect, because notifications may have been missed.
 */
export const subscribeToListChanges = ({ client, timeoutMs, onNotification, signal }: ListeningOptions): void => {
  const filter = filterOf(client)
  if (client.getProtocolEra() !== 'modern' || Object.keys(filter).length === 0) return
  const listen = async (): Promise<void> => {
    let delayMs = FIRST_DELAY_MS
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      const openedAt = performance.now()
      const subscription = await client.listen(filter, { timeout: timeoutMs, signal })
      if (!isFirst) for (const name of Object.keys(filter)) onNotification({ method: METHODS[name] ?? name })
      await subscription.closed
      if (signal.aborted) return
      delayMs = performance.now() - openedAt > STABLE_MS ? FIRST_DELAY_MS : Math.min(2 * delayMs, MAX_DELAY_MS)
      await wait(delayMs, undefined, { signal, ref: false })
    }
  }
  // If listening fails, lists are still refreshed at intervals.
  listen().catch(() => {})
}
