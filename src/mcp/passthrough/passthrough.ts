import type { Caller, CompiledPassthrough } from '../../execution/index.ts'
import type { ReverseProxy, Upgrade } from '../../platform/net/index.ts'
import { UpstreamError } from '../../upstreams/index.ts'
import { refusal } from '../answer.ts'
import type { ReportFault } from '../dispatcher.ts'
import { type Exchange, hasLeft, writeRefusal } from '../exchange.ts'
import { headerOf } from '../headers.ts'
import type { Mounted } from '../mounted.ts'
import { ERROR } from '../protocol.ts'
import { SESSION_HEADER, SESSION_NOT_FOUND } from '../session-requirements.ts'
import type { StreamAccess } from '../stream-access.ts'
import { type AdmitPassageOptions, createAdmitPassage } from './admit-passage.ts'
import { createMessageAddresses } from './message-addresses.ts'
import { createPassRequest } from './pass-request.ts'
import { createPassUpgrade } from './pass-upgrade.ts'
import { beginPassage } from './passage.ts'
import type { RequestPassing } from './passing.ts'
import { buildPassedHeaders, readSeenAt } from './request-headers.ts'
import { createSessionOwners } from './session-owners.ts'

export type PassthroughOptions = AdmitPassageOptions & {
  proxy: ReverseProxy
  /** The origin that clients see. */
  baseUrl: string
  access: StreamAccess
  isStopping: () => boolean
  /** The addresses a request came by, as X-Forwarded-For lists them. */
  forwardedFor: (incoming: Exchange['incoming']) => string
  report: ReportFault
}

/** What asks for a stream, or for what there is, and sends no message. */
const READS: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'OPTIONS'])

type Let = { exchange: Exchange; mounted: Mounted; caller: Caller; passthrough: CompiledPassthrough }

/** Requests to servers that pass them on, behind the checks of access. */
export const createPassthrough = (options: PassthroughOptions) => {
  const { baseUrl, access, isStopping, forwardedFor, report } = options
  const seenAt = readSeenAt(baseUrl)
  const admit = createAdmitPassage(options)
  const owners = createSessionOwners()
  const addresses = createMessageAddresses()
  const passRequest = createPassRequest(options)
  const passUpgrade = createPassUpgrade(options)

  const prepare = ({ exchange, mounted, caller, passthrough }: Let, onceOver: (end: () => void) => void) => {
    const admitted = admit(exchange, mounted, passthrough, caller)
    if (!admitted.ok) {
      if (admitted.error !== undefined) writeRefusal(exchange, admitted.error)
      return undefined
    }
    const { way, target } = admitted.value
    const { serverId } = mounted
    const named = headerOf(exchange.headers, SESSION_HEADER)
    const isMessage = way.isSse && !READS.has(exchange.incoming.method)
    const isOwn = named === undefined || !owners.isAnothers(serverId, named, caller)
    if (!isOwn || (isMessage && !addresses.isAllowed(serverId, target, caller))) {
      writeRefusal(exchange, SESSION_NOT_FOUND)
      return undefined
    }
    const publicPath = `/s/${serverId}`
    const url = `${baseUrl}${publicPath}${target.suffix}`
    const parts = { headers: exchange.headers, configured: way.headers, forwardedFor: forwardedFor(exchange.incoming) }
    const passing: RequestPassing = {
      exchange,
      caller,
      token: undefined,
      passage: beginPassage({ exchange, mounted, caller, passthrough, url, access, isStopping, onceOver }),
      passthrough,
      way,
      target,
      headers: buildPassedHeaders({ ...parts, seenAt, publicPath }),
      publicPath,
      claimSession: id => {
        if (id !== named) owners.claim(serverId, id, caller)
      },
      claimAddress: address => {
        if (!hasLeft(exchange)) exchange.raw.once('close', addresses.claim(serverId, address, caller))
      },
    }
    return passing
  }

  /** Adds the token of the account that the upstream is asked by, where it wants one. */
  const authorize = (passing: RequestPassing, caller: Caller, next: () => void): void => {
    const { exchange, way, headers, passage } = passing
    if (way.account === undefined) {
      next()
      return
    }
    const pass = (token: string): void => {
      if (hasLeft(exchange)) return
      headers.authorization = `Bearer ${token}`
      passing.token = token
      next()
    }
    const refuse = (error: unknown): void => {
      if (!(error instanceof UpstreamError)) report(error, 'the token of an account at an upstream was not to be had')
      const why = error instanceof UpstreamError ? error.message : 'The upstream cannot be asked right now.'
      passage.error = why
      if (!hasLeft(exchange)) writeRefusal(exchange, refusal(502, ERROR.transport, why))
    }
    way.account.getToken(caller?.userId).then(pass).catch(refuse)
  }

  return {
    serve: (exchange: Exchange, mounted: Mounted, caller: Caller, passthrough: CompiledPassthrough): void => {
      const passing = prepare({ exchange, mounted, caller, passthrough }, end => exchange.raw.on('close', end))
      if (passing !== undefined) authorize(passing, caller, () => passRequest(passing))
    },
    serveUpgrade: (
      upgrade: Upgrade & { exchange: Exchange },
      mounted: Mounted,
      caller: Caller,
      passthrough: CompiledPassthrough,
    ): void => {
      const { exchange, socket } = upgrade
      const passing = prepare({ exchange, mounted, caller, passthrough }, end => socket.once('close', end))
      if (passing !== undefined) authorize(passing, caller, () => passUpgrade(upgrade, passing))
    },
  }
}
