import { lookup as systemLookup } from 'node:dns'
import { type AgentOptions, type ClientRequestArgs, Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { type LookupFunction, Socket } from 'node:net'
import type { AddressPolicy } from './address-policy.ts'
import { createConnector } from './connector.ts'

/** No connection could be made: nothing of the request has gone out. */
export class ConnectFailure extends Error {
  override readonly name = 'ConnectFailure'
}

/** A connection without a request is closed after this long: shorter than what common servers wait (5 s). */
const KEEP_ALIVE_MS = 4_000
/** Connections kept for each origin while nothing is asked. */
const MAX_FREE_SOCKETS = 64

export type GuardedAgentOptions = {
  policy: AddressPolicy
  connectTimeoutMs: number
  /** The system's resolver if left out. */
  lookup?: LookupFunction | undefined
}

const textOf = (value: unknown): string => (value === undefined || value === null ? '' : String(value))

/** Agents of Node's own client whose sockets lead to allowed addresses only, by the same guard as every other request. */
export const createGuardedAgents = ({ policy, connectTimeoutMs, lookup = systemLookup }: GuardedAgentOptions) => {
  const connect = createConnector({ policy, lookup, connectTimeoutMs })
  const guard = <Kind extends HttpAgent>(agent: Kind, protocol: 'http:' | 'https:'): Kind => {
    agent.createConnection = ({ host, port }: ClientRequestArgs, done) => {
      // As URLs write them, IPv6 addresses stand in brackets.
      const hostname = textOf(host).replace(/^\[(.*)\]$/, '$1')
      connect({ hostname, host: hostname, protocol, port: textOf(port) }, (error, socket) => {
        if (error === null) done?.(null, socket)
        // Beside an error Node looks at no socket; its types want one.
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
    /** Cuts every connection, also those that something is under way on. */
    close: (): void => {
      http.destroy()
      https.destroy()
    },
  }
}
