import { AppError, type FieldError } from '../lib/kernel/errors.ts'
import type { Upstream, UpstreamTransport } from './upstream.ts'

const refuse = (error: FieldError): AppError =>
  new AppError('conflict', `This is a passthrough server: ${error.path} ${error.message}.`, { errors: [error] })

/**
 * Throws if a passthrough server cannot have such an upstream. `others` is the number of the server's other upstreams.
 */
export const assertPassable = (
  { presentation }: { presentation: string },
  { transport, others }: { transport: UpstreamTransport; others: number },
): void => {
  if (presentation !== 'passthrough') return
  if (transport === 'stdio')
    throw refuse({ path: 'transport', message: 'must be http or sse, since a command cannot receive HTTP requests' })
  if (others > 0)
    throw refuse({ path: 'name', message: 'would be a second MCP server, but a passthrough server can have only one' })
}

/** Explains why a server with these upstreams cannot be a passthrough server. Returns undefined if it can. */
export const explainUnpassable = (upstreams: readonly Upstream[]): string | undefined => {
  const [first, second] = upstreams
  if (second !== undefined) return `it has ${upstreams.length} MCP servers, but a passthrough server can have only one`
  if (first?.config.transport === 'stdio')
    return `its MCP server "${first.name}" is a command, which cannot receive HTTP requests`
  return undefined
}
