import { createHash } from 'node:crypto'
import type { Upstream, UpstreamState } from '../upstream.ts'

type Connections = {
  listHeld: () => readonly { upstream: Upstream }[]
  stateOf: (upstream: Upstream) => UpstreamState
}

const DIGEST_CHARS = 16

/** A text that is another once the connection of an upstream of the server is in another state, in this process. */
export const createStateDigest =
  ({ listHeld, stateOf }: Connections) =>
  (serverId: string): string => {
    const states = listHeld().flatMap(({ upstream }) => {
      if (upstream.serverId !== serverId) return []
      const state = stateOf(upstream)
      // What rests is as if it were not held at all.
      return state.kind === 'idle' || state.kind === 'disabled' ? [] : [[upstream.id, state]]
    })
    if (states.length === 0) return ''
    return createHash('sha256').update(JSON.stringify(states)).digest('base64url').slice(0, DIGEST_CHARS)
  }
