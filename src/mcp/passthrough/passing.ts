import type { Caller, CompiledPassthrough } from '../../execution/index.ts'
import type { PassthroughWay } from '../../upstreams/index.ts'
import type { Exchange } from '../exchange.ts'
import { headerOf } from '../headers.ts'
import { SESSION_HEADER } from '../session-requirements.ts'
import type { Passage } from './passage.ts'
import type { PassedTarget } from './request-target.ts'

/** A request on its way to the upstream. */
export type RequestPassing = {
  exchange: Exchange
  caller: Caller
  /** Of the account that the upstream is asked by. */
  token: string | undefined
  passage: Passage
  passthrough: CompiledPassthrough
  way: PassthroughWay
  target: PassedTarget
  /** All headers but those that depend on the address. */
  headers: Record<string, string | string[]>
  /** The server's own path, as clients write it. */
  publicPath: string
  /** The upstream has named a session by this id. */
  claimSession: (id: string) => void
  /** Messages of this stream go there, as long as it is open. */
  claimAddress: (address: PassedTarget) => void
}

/** By what the requests of one session know each other: its id, or with the older transport the address of messages. */
export const sessionOf = ({ exchange, way, target }: Pick<RequestPassing, 'exchange' | 'way' | 'target'>) =>
  way.isSse ? `${target.suffix}${target.search}` : headerOf(exchange.headers, SESSION_HEADER)
