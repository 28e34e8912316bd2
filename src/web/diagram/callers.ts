import { MAX_CALLERS } from './detail.ts'
import type { DiagramContent } from './diagram-content.ts'
import { CALLER, CALLERS, meanOf, RADIUS } from './dimensions.ts'
import type { PatchCaller } from './patch.ts'

const NO_CALLERS: PatchCaller = { name: 'No callers yet', activity: 'no client has connected', state: 'idle' }

/** Returns up to `MAX_CALLERS` callers, connected ones first, and one entry for all others. */
export const shortenCallers = (list: readonly PatchCaller[]): readonly PatchCaller[] => {
  if (list.length === 0) return [NO_CALLERS]
  if (list.length <= MAX_CALLERS + 1) return list
  const sorted = [...list.filter(({ state }) => state === 'good'), ...list.filter(({ state }) => state !== 'good')]
  const others = sorted.slice(MAX_CALLERS)
  const connected = others.filter(({ state }) => state === 'good').length
  return [
    ...sorted.slice(0, MAX_CALLERS),
    {
      name: `${others.length} others`,
      activity: connected === 0 ? 'none connected' : `${connected} connected`,
      state: connected === 0 ? 'idle' : 'good',
    },
  ]
}

/**
 * Snaps to a nearby socket. Otherwise a branch of the collector could have a step smaller than its two rounded corners.
 */
const snapToNearest = (y: number, sockets: readonly number[]): number => {
  const distanceTo = (socket: number): number => Math.abs(socket - y)
  const [first, ...rest] = sockets
  if (first === undefined) return y
  const nearest = rest.reduce((best, socket) => (distanceTo(socket) < distanceTo(best) ? socket : best), first)
  return distanceTo(nearest) < 2 * RADIUS ? nearest : y
}

/** Places the callers level with the middle of the exposed sockets. `end` is the bottom edge of everything else. */
export const placeCallers = (callers: DiagramContent['callers'], sockets: readonly number[], end: number) => {
  const height = CALLER.head + CALLER.foot + callers.list.length * CALLER.row
  const mean = meanOf(sockets)
  // Never place the callers above the highest socket, even if the diagram gets taller: every cable would bend.
  const highest = Math.min(...sockets, Number.MAX_SAFE_INTEGER) - CALLER.jack
  const wanted = Math.round(Math.max(Math.min(highest, mean - CALLER.jack), Math.min(mean - CALLER.jack, end - height)))
  const jackY = sockets.length === 0 ? undefined : snapToNearest(wanted + CALLER.jack, sockets)
  const y = jackY === undefined ? 0 : jackY - CALLER.jack
  return {
    callers,
    box: { ...CALLERS, y, height },
    /** The y at which the collector cable ends. Undefined if no parameter is exposed. */
    jackY,
    rows: callers.list.map((row, index) => ({ row, y: y + CALLER.head + index * CALLER.row + CALLER.row / 2 })),
  }
}
export type PlacedCallers = ReturnType<typeof placeCallers>
