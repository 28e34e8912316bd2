import { createBodyOpener } from '../../history/bodies/call-bodies.ts'
import { type CountedCalls, createCallFigureStore } from '../../history/call-figures.store.ts'
import { createExecutionStore } from '../../history/executions.store.ts'
import type { OrganizationScope } from '../../history/query/execution-filters.ts'
import type { Database } from '../../lib/db/client.ts'
import type { EventBus } from '../../lib/events/event-bus.ts'
import { MINUTE_MS } from '../../lib/kernel/durations.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import { toLiveState } from '../frame/server-frame.ts'
import { firstCallText, toCallView, toFigureTexts } from '../overview/overview.view.ts'
import type { LiveStream } from './live-stream.ts'
import { createLiveStreams, type Viewer } from './live-streams.ts'
import { createScopeWatches } from './scope-watch.ts'
import { createServerWatches, type ServerWatchParts, type WatchEvent } from './server-watch.ts'

type LiveParts = Pick<ServerWatchParts, 'openStreams' | 'upstreamStates' | 'onTrouble'> & {
  db: Database
  sealing: Pick<Sealing, 'open'>
  bus: EventBus
}

/** Maximum calls per read. If more arrive within a second, the rest appear only in the history. */
const NEWEST = 20
/** How far back new calls of an organization are looked for. A call is recorded when it ends. */
const NEWEST_WITHIN_MS = 5 * MINUTE_MS

type ServerViewer = Viewer & CountedCalls

/** Sends live updates to open pages: calls, figures, open connections and other changes. */
export const createLive = ({ db, sealing, bus, openStreams, upstreamStates, onTrouble }: LiveParts) => {
  const executions = createExecutionStore(db, createBodyOpener(sealing))
  const figures = createCallFigureStore(db)
  const watches = createServerWatches({
    listNewest: async ({ serverId, callerId }) =>
      (await executions.list({ serverId, callerId }, { limit: NEWEST })).items,
    readFigures: watched => figures.ofServer(watched, new Date()),
    openStreams,
    upstreamStates,
    onTrouble,
  })
  const scopes = createScopeWatches({
    listNewest: async scope => {
      const from = new Date(Date.now() - NEWEST_WITHIN_MS)
      return (await executions.list(scope, { from, limit: NEWEST })).items.map(({ id }) => id)
    },
    onTrouble,
  })
  const streams = createLiveStreams({
    bus,
    onChanged: ({ serverId, callerId }, send) => {
      const { text, state } = toLiveState(callerId === undefined ? openStreams(serverId) : undefined)
      send('changed', { text: `Changed just now. ${text}`, state })
    },
  })

  const tell = (stream: LiveStream, event: WatchEvent): void => {
    switch (event.type) {
      case 'calls': {
        const calls = event.calls.map(toCallView)
        const first = calls.at(-1)
        stream.send('calls', { calls, first: first && firstCallText(first) })
        break
      }
      case 'connections':
        stream.send('connections', toLiveState(event.openStreams))
        break
      case 'upstreams':
        stream.send('upstreams', { states: event.states })
        break
      case 'figures':
        stream.send('figures', { figures: toFigureTexts(event.figures) })
    }
  }

  return {
    assertRoom: streams.assertRoom,
    openCount: streams.openCount,
    watchedCount: watches.watchedCount,
    close: streams.close,
    /** Sends the server's events to the stream. Returns a function to call when the stream closes. */
    attach: (viewer: ServerViewer, stream: LiveStream): (() => void) => {
      const forget = streams.add(viewer, stream)
      const stop = watches.watch(viewer, event => tell(stream, event))
      return () => {
        stop()
        forget()
      }
    },
    /** Works like `attach` for all servers of an organization. Only says that there are new calls. */
    attachToOrganization: (viewer: Viewer, scope: OrganizationScope, stream: LiveStream): (() => void) => {
      const forget = streams.add(viewer, stream)
      const stop = scopes.watch(scope, () => stream.send('calls', { calls: [] }))
      return () => {
        stop()
        forget()
      }
    },
  }
}

export type Live = ReturnType<typeof createLive>
