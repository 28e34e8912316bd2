import { MAX_CALLERS } from './detail.ts'
import { CALLER, CALLERS, RADIUS, type Rect } from './measures.ts'
import type { PatchCaller } from './patch.ts'
import type { Placed } from './rows.ts'
import type { Sheet } from './sheet.ts'

export type PlacedCallers = {
  callers: Sheet['callers']
  box: Rect
  /** Where the collector ends; nothing is exposed where there is none. */
  jackY: number | undefined
  rows: readonly Placed<PatchCaller>[]
}

const NOBODY: PatchCaller = { name: 'Nobody yet', what: 'no client has called', state: 'idle' }

/** Some of the callers, and one entry for the others. */
export const shortenCallers = (list: readonly PatchCaller[]): readonly PatchCaller[] => {
  if (list.length === 0) return [NOBODY]
  if (list.length <= MAX_CALLERS + 1) return list
  const sorted = [...list.filter(({ state }) => state === 'good'), ...list.filter(({ state }) => state !== 'good')]
  const others = sorted.slice(MAX_CALLERS)
  const connected = others.filter(({ state }) => state === 'good').length
  return [
    ...sorted.slice(0, MAX_CALLERS),
    {
      name: `${others.length} others`,
      what: connected === 0 ? 'none of them connected' : `${connected} of them connected`,
      state: connected === 0 ? 'idle' : 'good',
    },
  ]
}

const callersHeight = (rows: number): number => CALLER.head + CALLER.foot + rows * CALLER.row

/** Level with a socket where it would nearly be: otherwise the collector had a kink smaller than its corners. */
const levelWithNearest = (y: number, sockets: readonly number[]): number => {
  const distanceTo = (socket: number): number => Math.abs(socket - y)
  const [first, ...rest] = sockets
  if (first === undefined) return y
  const nearest = rest.reduce((best, socket) => (distanceTo(socket) < distanceTo(best) ? socket : best), first)
  return distanceTo(nearest) < 2 * RADIUS ? nearest : y
}

/** Beside the middle of what is exposed; `end` is the lowest edge of everything else. */
export const placeCallers = (callers: Sheet['callers'], sockets: readonly number[], end: number): PlacedCallers => {
  const height = callersHeight(callers.list.length)
  const mean = sockets.reduce((sum, y) => sum + y, 0) / Math.max(1, sockets.length)
  // Not above the highest socket, even if the picture grows by it: a short one would get needless steps.
  const highest = Math.min(...sockets, Number.MAX_SAFE_INTEGER) - CALLER.jack
  const wanted = Math.round(Math.max(Math.min(highest, mean - CALLER.jack), Math.min(mean - CALLER.jack, end - height)))
  const jackY = sockets.length === 0 ? undefined : levelWithNearest(wanted + CALLER.jack, sockets)
  const y = jackY === undefined ? 0 : jackY - CALLER.jack
  return {
    callers,
    box: { ...CALLERS, y, height },
    jackY,
    rows: callers.list.map((row, index) => ({ row, y: y + CALLER.head + index * CALLER.row + CALLER.row / 2 })),
  }
}
