import { MAX_RESPONSE_HEADER_BYTES } from '../../lib/kernel/limits.ts'
import { type Problem, problemOf } from '../../lib/outbound/faults.ts'
import { ConnectFailure } from './guarded-agents.ts'

export class HeadTimeout extends Error {
  override readonly name = 'HeadTimeout'
}

export type ProxyStanding = { url: URL; headTimeoutMs: number }

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

/** Translates an error of node:http. */
export const toProxyProblem = (error: unknown, { url, headTimeoutMs }: ProxyStanding): Problem => {
  const { host, protocol } = url
  const standing = { host, isTls: protocol === 'https:', maxHeaderBytes: MAX_RESPONSE_HEADER_BYTES, bodyIdleMs: 0 }
  if (error instanceof ConnectFailure) return problemOf(error.cause, { ...standing, phase: 'connecting' })
  if (error instanceof HeadTimeout) {
    return {
      fault: 'timeout',
      text: `${host} did not start to respond within ${headTimeoutMs} ms; raise its timeoutMs`,
    }
  }
  const code = codeOf(error)
  if (code === 'HPE_HEADER_OVERFLOW')
    return { fault: 'too_large', text: `the response headers of ${host} are too large` }
  if (code.startsWith('HPE_'))
    return { fault: 'protocol', text: `${host} responded with something that is not HTTP/1.1` }
  if (code.startsWith('ERR_')) return { fault: 'protocol', text: `${host} and this request do not fit together` }
  return problemOf(error, { ...standing, phase: 'sent' })
}
