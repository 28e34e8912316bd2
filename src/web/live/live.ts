import { createCallFigureStore, createExecutionStore } from '../history/index.ts'
import type { Database } from '../platform/db/index.ts'
import type { EventBus } from '../platform/events/index.ts'
import { liveTextOf } from '../servers/index.ts'
import type { LiveStream } from './live-stream.ts'
import { createLiveStreams, type Viewer } from './live-streams.ts'
import { firstCallText, toCallView, toFigureTexts } from './overview.view.ts'
import { createServerWatches, type WatchEvent } from './server-watch.ts'

export type LiveParts = {
  db: Database
  bus: EventBus
  openStreams: (serverId: string) => number
  upstreamStates: (serverId: string) => string
  onTrouble: (error: unknown, serverId: string) => void
}

/** The newest calls that are looked at each time: more within a second show in the history alone. */
const NEWEST = 20

/** What pages are told while they are open: calls, figures, open connections, changes. */
export const createLive = ({ db, bus, openStreams, upstreamStates, onTrouble }: LiveParts) => {
  const executions = createExecutionStore(db)
  const figures = createCallFigureStore(db)
  const watches = createServerWatches({
    listNewest: async serverId => (await executions.list({ serverId, limit: NEWEST })).items,
    readFigures: serverId => figures.ofServer(serverId, new Date()),
    openStreams,
    upstreamStates,
    onTrouble,
  })
  const streams = createLiveStreams({
    bus,
    onChanged: (serverId, send) => {
      const open = openStreams(serverId)
      send('changed', { text: `Changed just now. ${liveTextOf(open)}`, state: open === 0 ? 'idle' : 'good' })
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
      case 'connections': {
        const state = event.openStreams === 0 ? 'idle' : 'good'
        stream.send('connections', { text: liveTextOf(event.openStreams), state })
        break
      }
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
    /** Tells the stream what happens on the server, until it is closed. Answers what is to be done then. */
    attach: (viewer: Viewer, stream: LiveStream): (() => void) => {
      const forget = streams.add(viewer, stream)
      const stop = watches.watch(viewer.serverId, event => tell(stream, event))
      return () => {
        stop()
        forget()
      }
    },
  }
}

export type Live = ReturnType<typeof createLive>
