import type { Changes } from '../../lib/events/changes.ts'
import { enterUpstreamEvent, setDown, setUp } from '../upstream-events.store.ts'
import type { UpstreamConnections } from './upstream-connections.ts'

export type OutageEventsOptions = {
  connections: Pick<UpstreamConnections, 'onState'>
  changes: Changes
  onError: (error: unknown, upstreamId: string) => void
}

type Reached = { isUp: true } | { isUp: false; reason: string }

/**
 * Puts into the outbox that an upstream cannot be reached, and that it can be again. An outage counts once, whichever
 * processes notice it.
 */
export const createOutageEvents = ({ connections, changes, onError }: OutageEventsOptions) => {
  /** The state that this process has stored last, by upstream. */
  const known = new Map<string, boolean>()
  let writing: Promise<void> = Promise.resolve()

  const write = (id: string, reached: Reached): Promise<void> =>
    changes.commit(async tx => {
      if (reached.isUp) {
        if (await setUp(tx, id)) await enterUpstreamEvent(tx, id, { type: 'upstream.recovered', data: {} })
      } else if (await setDown(tx, id)) {
        await enterUpstreamEvent(tx, id, { type: 'upstream.down', data: { reason: reached.reason } })
      }
    })

  const note = (id: string, reached: Reached): void => {
    if (known.get(id) === reached.isUp) return
    known.set(id, reached.isUp)
    // In order, so that a recovery does not overtake its outage.
    writing = writing
      .then(() => write(id, reached))
      .catch((error: unknown) => {
        known.delete(id)
        onError(error, id)
      })
  }

  connections.onState(({ id }, state) => {
    // The upstream's own words may be about an account, so they are left out.
    if (state.kind === 'failed') note(id, { isUp: false, reason: state.ownWords ?? state.why })
    else if (state.kind === 'connected') note(id, { isUp: true })
  })

  return {
    /** Waits for what is being stored. */
    settle: (): Promise<void> => writing,
  }
}
