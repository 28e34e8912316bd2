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

/** Whose the fault is: the MCP server is only down, the user can mend it here, or it has to be mended there. */
type Remedy = 'wait' | 'here' | 'there'

/** What happened, as the first half of a sentence, and whose fault it is. */
const FAULTS: Readonly<Record<UpstreamFault, readonly [what: string, remedy: Remedy]>> = {
  misconfigured: ['Its settings cannot be used', 'here'],
  command_not_found: ['Its command could not be started', 'here'],
  blocked: ['Patchbay may not connect to its address', 'here'],
  unauthorized: ['It asks for other credentials', 'here'],
  not_mcp: ['It responded with something other than MCP', 'here'],
  not_mcp_output: ['It printed something other than MCP', 'there'],
  too_large: ['It sent more than Patchbay accepts', 'there'],
  protocol: ['It was reached, but its messages could not be used', 'there'],
  session_ended: ['It was reached, but ended the session', 'there'],
  exited: ['Its process ended', 'wait'],
  no_response: ['It did not respond in time', 'wait'],
  timeout: ['It did not respond in time', 'wait'],
  http_status: ['It responded with an error', 'wait'],
  refused: ['Could not connect', 'wait'],
  connect_timeout: ['Could not connect', 'wait'],
  unavailable: ['Could not connect', 'wait'],
  aborted: ['The connection was closed', 'wait'],
}

const REMEDIES: Readonly<Record<Remedy, string>> = {
  wait: 'Fix the error below, or attach it anyway if it is only down at the moment.',
  here: 'Fix the error below.',
  there:
    'The error is below. If it has to be fixed on the MCP server, you can attach it anyway and refresh its lists later.',
}

/** Returns the notice above the form of an MCP server that was not attached. The error itself is beside a field. */
export const toAttachNotice = ({ kind }: Pick<AttachFault, 'kind'>): string => {
  const [what, remedy] = FAULTS[kind]
  return `${what}, so nothing was attached. ${REMEDIES[remedy]}`
}
