import type { UpstreamConnections } from '../connection/upstream-connections.ts'
import { upstreamGone } from '../connection/upstream-error.ts'
import { createResourceWatch, type OnUpdated, type ResourceWatch } from './resource-watch.ts'

export const createResourceSubscriptions = (
  connections: Pick<UpstreamConnections, 'find' | 'onNotification' | 'onState' | 'onReplaced'>,
) => {
  const watches = new Map<string, ResourceWatch>()

  const watch = (upstreamId: string): ResourceWatch => {
    const known = watches.get(upstreamId)
    if (known !== undefined) return known
    const created = createResourceWatch({
      find: () => {
        const connection = connections.find(upstreamId)
        if (connection === undefined) throw upstreamGone()
        return connection
      },
      onEmpty: () => {
        if (watches.get(upstreamId) === created) watches.delete(upstreamId)
      },
    })
    watches.set(upstreamId, created)
    return created
  }

  connections.onState(({ id }, { kind }) => {
    if (kind === 'connected') watches.get(id)?.restore()
    else if (kind === 'failed' || kind === 'idle') watches.get(id)?.restoreLater()
  })
  connections.onReplaced(upstreamId => watches.get(upstreamId)?.restoreLater())
  connections.onNotification(({ id }, { method, params }) => {
    if (method === 'notifications/resources/updated') watches.get(id)?.dispatch(params)
  })

  return {
    /**
     * Calls `onUpdated` on each update until the returned function is called. Rejects if the upstream refuses the
     * subscription.
     */
    subscribe: (upstreamId: string, uri: string, onUpdated: OnUpdated): Promise<() => void> =>
      watch(upstreamId).subscribe(uri, onUpdated),
    close: (): void => {
      for (const each of [...watches.values()]) each.close()
    },
  }
}
