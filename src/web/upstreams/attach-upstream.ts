import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import type { UpstreamCatalogues } from '../../upstreams/catalogue/catalogues.ts'
import type { LogLine } from '../../upstreams/connection/output-log.ts'
import type { UpstreamConnections } from '../../upstreams/connection/upstream-connections.ts'
import { UpstreamError, type UpstreamFault } from '../../upstreams/connection/upstream-error.ts'
import type { Upstream } from '../../upstreams/upstream.ts'
import type { UpstreamInput } from '../../upstreams/upstreams.schema.ts'
import type { UpstreamService } from '../../upstreams/upstreams.service.ts'

export type AttachParts = {
  upstreams: Pick<UpstreamService, 'createUpstream' | 'removeUpstream'>
  upstreamCatalogues: Pick<UpstreamCatalogues, 'refresh'>
  upstreamConnections: Pick<UpstreamConnections, 'logOf'>
}

/** Why an MCP server was not attached. `message` says what to do about it; `log` is the output of its process. */
export type AttachFault = { kind: UpstreamFault; message: string; log: readonly LogLine[] }

/** Where to attach an MCP server. */
type Place = {
  id: string
  /** Whether the server passes requests on, so that Patchbay does not fetch lists. */
  passesOn: boolean
}

/**
 * Attaches an MCP server and connects to it at once. If that fails, it is not attached. Does not connect if that needs
 * something that can only be entered afterwards: a global or an account, or if it is to be attached in any case
 * (`isAnyway`). Throws AppError if the input is refused.
 */
export const attachUpstream = async (
  { upstreams, upstreamCatalogues, upstreamConnections }: AttachParts,
  actor: Actor,
  server: Place,
  input: UpstreamInput,
  { isAnyway = false }: { isAnyway?: boolean } = {},
): Promise<Result<Upstream, AttachFault>> => {
  const { upstream, missingGlobals } = await upstreams.createUpstream(actor, server.id, input)
  const mayConnect = !server.passesOn && missingGlobals.length === 0 && upstream.config.auth.type === 'none'
  if (!mayConnect || isAnyway) return success(upstream)
  try {
    await upstreamCatalogues.refresh(upstream)
    return success(upstream)
  } catch (error) {
    if (!(error instanceof AppError && error.cause instanceof UpstreamError)) throw error
    const fault = { kind: error.cause.kind, message: error.message, log: upstreamConnections.logOf(upstream.id) }
    await upstreams.removeUpstream(actor, upstream.id)
    return failure(fault)
  }
}
