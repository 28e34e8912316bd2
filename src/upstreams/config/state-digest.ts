import { createHash } from 'node:crypto'
import type { Upstream, UpstreamState } from '../upstream.ts'

type Connections = {
  listKnown: () => readonly { upstream: Upstream }[]
  stateOf: (upstream: Upstream) => UpstreamState
}

const DIGEST_CHARS = 16

/** Returns a digest that changes with the state of the server's upstream connections in this process. */
export const createStateDigest =
  ({ listKnown, stateOf }: Connections) =>
  (serverId: string): string => {
    const states = listKnown().flatMap(({ upstream }) => {
      if (upstream.serverId !== serverId) return []
      const state = stateOf(upstream)
      // Idle upstreams are left out, so that the digest is the same whether or not they are loaded.
      return state.kind === 'idle' || state.kind === 'disabled' ? [] : [[upstream.id, state]]
    })
    if (states.length === 0) return ''
    return createHash('sha256').update(JSON.stringify(states)).digest('base64url').slice(0, DIGEST_CHARS)
  }
