import type { Caller, CompiledPassthrough } from '../../execution/index.ts'
import type { ReverseProxy, Upgrade } from '../../platform/net/index.ts'
import { type Exchange, writeRefusal } from '../exchange.ts'
import type { Mounted } from '../mounted.ts'
import type { StreamAccess } from '../stream-access.ts'
import { type AdmitPassageOptions, createAdmitPassage } from './admit-passage.ts'
import { createPassRequest, type RequestPassing } from './pass-request.ts'
import { createPassUpgrade } from './pass-upgrade.ts'
import { beginPassage } from './passage.ts'
import { buildPassedHeaders } from './request-headers.ts'

export type PassthroughOptions = AdmitPassageOptions & {
  proxy: ReverseProxy
  /** The origin that clients see. */
  baseUrl: string
  access: StreamAccess
  /** The addresses a request came by, as X-Forwarded-For lists them. */
  forwardedFor: (incoming: Exchange['incoming']) => string
}

type Let = { exchange: Exchange; mounted: Mounted; caller: Caller; passthrough: CompiledPassthrough }

/** Requests to servers that pass them on, behind the checks of access. */
export const createPassthrough = (options: PassthroughOptions) => {
  const { baseUrl, access, forwardedFor } = options
  const admit = createAdmitPassage(options)
  const passRequest = createPassRequest(options)
  const passUpgrade = createPassUpgrade(options)

  const prepare = ({ exchange, mounted, caller, passthrough }: Let, onceOver: (end: () => void) => void) => {
    const admitted = admit(exchange, mounted, passthrough, caller)
    if (!admitted.ok) {
      if (admitted.error !== undefined) writeRefusal(exchange, admitted.error)
      return undefined
    }
    const { way, target } = admitted.value
    const publicUrl = new URL(`${baseUrl}/s/${mounted.serverId}`)
    const url = `${publicUrl.href}${target.suffix}`
    const parts = { headers: exchange.headers, configured: way.headers, forwardedFor: forwardedFor(exchange.incoming) }
    const passing: RequestPassing = {
      exchange,
      passage: beginPassage({ exchange, mounted, caller, passthrough, url, access, onceOver }),
      passthrough,
      way,
      target,
      headers: buildPassedHeaders({ ...parts, publicUrl }),
      publicPath: publicUrl.pathname,
    }
    return passing
  }

  return {
    serve: (exchange: Exchange, mounted: Mounted, caller: Caller, passthrough: CompiledPassthrough): void => {
      const passing = prepare({ exchange, mounted, caller, passthrough }, end => exchange.raw.on('close', end))
      if (passing !== undefined) passRequest(passing)
    },
    serveUpgrade: (
      upgrade: Upgrade & { exchange: Exchange },
      mounted: Mounted,
      caller: Caller,
      passthrough: CompiledPassthrough,
    ): void => {
      const { exchange, socket } = upgrade
      const passing = prepare({ exchange, mounted, caller, passthrough }, end => socket.once('close', end))
      if (passing !== undefined) passUpgrade(upgrade, passing)
    },
  }
}
export type Passthrough = ReturnType<typeof createPassthrough>
