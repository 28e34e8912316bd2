import type { UpstreamConnections } from '../connection/upstream-connections.ts'
import { UpstreamError } from '../connection/upstream-error.ts'
import { createResourceWatch, type OnUpdated, type ResourceWatch } from './resource-watch.ts'

/** Subscriptions to resources of upstreams, by the connections that all clients share. */
export const createResourceSubscriptions = (
  connections: Pick<UpstreamConnections, 'find' | 'onNotification' | 'onState' | 'onReplaced'>,
) => {
  const watches = new Map<string, ResourceWatch>()

  const watch = (upstreamId: string): ResourceWatch => {
    const known = watches.get(upstreamId)
    if (known !== undefined) return known
    const made = createResourceWatch({
      find: () => {
        const connection = connections.find(upstreamId)
        if (connection === undefined) throw new UpstreamError('aborted', 'The upstream is disabled, or was removed.')
        return connection
      },
      onOver: () => {
        if (watches.get(upstreamId) === made) watches.delete(upstreamId)
      },
    })
    watches.set(upstreamId, made)
    return made
  }

  connections.onState(({ id }, { kind }) => {
    if (kind === 'connected') watches.get(id)?.comeBack()
    else if (kind === 'failed' || kind === 'idle') watches.get(id)?.comeBackSoon()
  })
  connections.onReplaced(upstreamId => watches.get(upstreamId)?.comeBackSoon())
  connections.onNotification(({ id }, { method, params }) => {
    if (method === 'notifications/resources/updated') watches.get(id)?.tell(params)
  })

  return {
    /** Tells of updates of a resource until it is stopped. Rejects with why the upstream does not. */
    subscribe: (upstreamId: string, uri: string, onUpdated: OnUpdated): Promise<() => void> =>
      watch(upstreamId).subscribe(uri, onUpdated),
    close: (): void => {
      for (const each of [...watches.values()]) each.close()
    },
  }
}
