import { lookup as systemLookup } from 'node:dns'
import { type AgentOptions, type ClientRequestArgs, Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { type LookupFunction, Socket } from 'node:net'
import type { AddressPolicy } from '../../lib/outbound/address-policy.ts'
import { createConnector } from '../../lib/outbound/connector.ts'

/** No connection could be made, so nothing of the request was sent. */
export class ConnectFailure extends Error {
  override readonly name = 'ConnectFailure'
}

/** Idle timeout of connections. Shorter than that of common servers (5 s). */
const KEEP_ALIVE_MS = 4_000
/** Maximum number of idle connections per origin. */
const MAX_FREE_SOCKETS = 64

export type GuardedAgentOptions = {
  policy: AddressPolicy
  connectTimeoutMs: number
  /** Defaults to the system's resolver. */
  lookup?: LookupFunction | undefined
}

const textOf = (value: unknown): string => (value === undefined || value === null ? '' : String(value))

/**
 * Creates agents for node:http that connect to allowed addresses only, with the same guard as all other outbound
 * requests.
 */
export const createGuardedAgents = ({ policy, connectTimeoutMs, lookup = systemLookup }: GuardedAgentOptions) => {
  const connect = createConnector({ policy, lookup, connectTimeoutMs })
  const guard = <Kind extends HttpAgent>(agent: Kind, protocol: 'http:' | 'https:'): Kind => {
    agent.createConnection = ({ host, port }: ClientRequestArgs, done) => {
      // URLs write IPv6 addresses in brackets.
      const hostname = textOf(host).replace(/^\[(.*)\]$/, '$1')
      connect({ hostname, host: hostname, protocol, port: textOf(port) }, (error, socket) => {
        if (error === null) done?.(null, socket)
        // Node ignores the socket if there is an error, but its types require one.
        else done?.(new ConnectFailure(error.message, { cause: error }), new Socket())
      })
      return undefined
    }
    return agent
  }
  const options: AgentOptions = { keepAlive: true, timeout: KEEP_ALIVE_MS, maxFreeSockets: MAX_FREE_SOCKETS }
  const http = guard(new HttpAgent(options), 'http:')
  const https = guard(new HttpsAgent(options), 'https:')
  return {
    agentFor: (protocol: string): HttpAgent => (protocol === 'https:' ? https : http),
    close: (): void => {
      http.destroy()
      https.destroy()
    },
  }
}
