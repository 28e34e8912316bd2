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
 * Attaches an MCP server and connects to it at once. If that fails, for whatever reason, it is not attached. Does not
 * connect if that needs something that can only be entered afterwards: a global or an account, or if it is to be
 * attached in any case (`isAnyway`). Throws AppError if the input is refused.
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
    const log = upstreamConnections.logOf(upstream.id)
    await upstreams.removeUpstream(actor, upstream.id)
    if (!(error instanceof AppError && error.cause instanceof UpstreamError)) throw error
    return failure({ kind: error.cause.kind, message: error.message, log })
  }
}

const isDown = (kind: UpstreamFault): boolean =>
  ['refused', 'connect_timeout', 'no_response', 'timeout', 'http_status', 'unavailable', 'exited'].includes(kind)

/** Returns what happened, as the first half of a sentence. */
const describeFault = (kind: UpstreamFault): string => {
  switch (kind) {
    case 'misconfigured':
      return 'Its settings cannot be used'
    case 'blocked':
      return 'Patchbay may not connect to its address'
    case 'command_not_found':
      return 'Its command could not be started'
    case 'exited':
      return 'Its process ended'
    case 'no_response':
    case 'timeout':
      return 'It did not respond in time'
    case 'unauthorized':
      return 'It asks for other credentials'
    case 'http_status':
      return 'It responded with an error'
    case 'not_mcp':
    case 'not_mcp_output':
      return 'It responded with something other than MCP'
    case 'too_large':
      return 'It sent more than Patchbay accepts'
    case 'protocol':
    case 'session_ended':
      return 'It was reached, but its messages could not be used'
    case 'refused':
    case 'connect_timeout':
    case 'unavailable':
    case 'aborted':
      return 'Could not connect'
  }
}

/** Returns the notice above the form of an MCP server that was not attached. The error itself is beside a field. */
export const toAttachNotice = ({ kind }: Pick<AttachFault, 'kind'>): string => {
  const next = isDown(kind)
    ? 'Fix the error below, or attach it anyway if it is only down at the moment.'
    : 'Fix the error below. If that has to be done on the MCP server, you can attach it anyway and refresh its lists later.'
  return `${describeFault(kind)}, so nothing was attached. ${next}`
}
