import { AppError, type FieldError } from '../lib/kernel/errors.ts'
import type { Upstream, UpstreamTransport } from './upstream.ts'

const refuse = (error: FieldError): AppError =>
  new AppError('conflict', `This server passes its requests on: ${error.path} ${error.message}.`, { errors: [error] })

/** Refuses an upstream that a server which passes requests on could not hold beside the `others` that it has. */
export const assertPassable = (
  { presentation }: { presentation: string },
  { transport, others }: { transport: UpstreamTransport; others: number },
): void => {
  if (presentation !== 'passthrough') return
  if (transport === 'stdio') throw refuse({ path: 'transport', message: 'stdio is a command, which takes no requests' })
  if (others > 0) throw refuse({ path: 'name', message: 'would be a second upstream, and it passes on to one alone' })
}

/** Why a server with these upstreams cannot pass requests on; undefined where it can, or has none yet. */
export const explainUnpassable = (upstreams: readonly Upstream[]): string | undefined => {
  const [first, second] = upstreams
  if (second !== undefined) return `it has ${upstreams.length} upstreams, and can pass on to one alone`
  if (first?.config.transport === 'stdio') return `its upstream "${first.name}" is a command, which takes no requests`
  return undefined
}
