import { setTimeout as wait } from 'node:timers/promises'
import type { Client, Notification, SubscriptionFilter } from '@modelcontextprotocol/client'

export type ListeningOptions = {
  client: Client
  timeoutMs: number
  onNotification: (notification: Notification) => void
  signal: AbortSignal
}

/** Before the stream is opened again, doubled each time that it does not hold. */
const FIRST_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 60_000
/** A stream that held this long was a good one. */
const GOOD_MS = 10_000

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
 * Hears of changed lists in the newer era, which tells of them only by a stream that is asked for; in the older one they
 * come unasked. While the stream was away a list may have changed unheard: each that it is for is then told as changed.
 */
export const keepListening = ({ client, timeoutMs, onNotification, signal }: ListeningOptions): void => {
  const filter = filterOf(client)
  if (client.getProtocolEra() !== 'modern' || Object.keys(filter).length === 0) return
  const listen = async (): Promise<void> => {
    let pauseMs = FIRST_PAUSE_MS
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      const since = performance.now()
      const subscription = await client.listen(filter, { timeout: timeoutMs, signal })
      if (!isFirst) for (const name of Object.keys(filter)) onNotification({ method: METHODS[name] ?? name })
      await subscription.closed
      if (signal.aborted) return
      pauseMs = performance.now() - since > GOOD_MS ? FIRST_PAUSE_MS : Math.min(2 * pauseMs, MAX_PAUSE_MS)
      await wait(pauseMs, undefined, { signal, ref: false })
    }
  }
  // One that offers no such stream is asked anew for its lists by whoever keeps them.
  listen().catch(() => {})
}
