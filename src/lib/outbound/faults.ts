import { formatBytes, formatDuration } from '../kernel/format.ts'
import { MAX_RESPONSE_HEADER_BYTES } from '../kernel/limits.ts'
import { NoConnectionError, type UsedShare } from './connection-shares.ts'
import { BlockedError } from './connector.ts'
import type { OpenCircuit } from './failures/circuits.ts'
import type { NoMemoryError } from './memory-shares.ts'
import { NameError } from './name-error.ts'
import type { OutboundFault } from './outbound-fault.ts'
import { OutboundError } from './outbound-request.ts'
import type { Phase } from './request-trace.ts'

/** A failed request, described for the caller: what happened, and what to do. */
export type Problem = { fault: OutboundFault; text: string; cause?: unknown }

/** The state of a request when it failed. */
export type Standing = { host: string; phase: Phase; isTls: boolean; bodyIdleMs: number }

const CERTIFICATES: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'comes from an issuer that is not trusted here',
  UNABLE_TO_GET_ISSUER_CERT: 'comes from an issuer that is not trusted here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'comes from an issuer that is not trusted here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "comes without its issuer's certificate",
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for another host',
  CERT_REVOKED: 'was revoked',
}
const OTHER_CERTIFICATE = /^(CERT_|CRL_|INVALID_|PATH_LENGTH|UNABLE_TO_|ERROR_IN_|HOSTNAME_MISMATCH)/
const HANDSHAKE = /^(ERR_SSL_|ERR_TLS_|EPROTO$)/

const tlsProblem = (code: string, host: string): Problem | undefined => {
  const certificate = CERTIFICATES[code] ?? (OTHER_CERTIFICATE.test(code) ? 'is not valid' : undefined)
  if (certificate !== undefined) {
    const advice = 'install a valid one there, or have the operator trust its issuer with NODE_EXTRA_CA_CERTS'
    return { fault: 'tls', text: `the certificate of ${host} ${certificate}; ${advice}` }
  }
  if (!HANDSHAKE.test(code)) return undefined
  return { fault: 'tls', text: `${host} failed the TLS handshake; check the port, and whether the URL should be http` }
}

const connectTimeoutProblem = ({ host }: Standing): Problem => ({
  fault: 'connect_timeout',
  text: `${host} did not accept a connection in time; check the host and the port, and that it can be reached from here`,
})

/** Whether the server sent malformed HTTP, an unexpected response or an unexpected upgrade. */
const isNoHttp = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === 'HTTPParserError' || error.message === 'bad response' || error.message === 'bad upgrade')

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

/** Whether the server or the network closed the connection. */
export const isLostConnection = (error: unknown): boolean => {
  if (isNoHttp(error)) return false
  const code = codeOf(error)
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE'
}

/** Whether undici refused to send the request because it is invalid. */
export const isUnwritable = (error: unknown): boolean => codeOf(error) === 'UND_ERR_INVALID_ARG'

const lostProblem = ({ host, phase, isTls }: Standing): Problem => {
  if (phase === 'receiving')
    return { fault: 'reset', text: `${host} closed the connection before its response was complete` }
  if (phase === 'sent') return { fault: 'reset', text: `${host} closed the connection without a response; try again` }
  if (!isTls) return { fault: 'reset', text: `${host} closed the connection before the request; try again` }
  return {
    fault: 'tls',
    text: `${host} closed the connection during the TLS handshake; check that the port uses https`,
  }
}

const noHttpProblem = ({ host, isTls }: Standing): Problem => {
  const advice = isTls ? 'check the port' : 'check the port, and whether the URL should be https'
  return { fault: 'protocol', text: `${host} responded with something that is not HTTP/1.1; ${advice}` }
}

const unresolvedProblem = ({ host }: Standing): Problem => ({
  fault: 'dns',
  text: `the name ${host} does not resolve to an address; check the host in the URL`,
})

const interruptedProblem = (standing: Standing): Problem =>
  standing.phase === 'receiving' ? lostProblem(standing) : noHttpProblem(standing)

const shortageProblem = ({ host }: Standing): Problem => ({
  fault: 'unreachable',
  text: `Patchbay has no file descriptor left to connect to ${host}; have the operator raise the limit (ulimit -n)`,
})

/** Maps error codes from the DNS resolver, the operating system, undici and its parser to problems. */
const PROBLEMS: Readonly<Record<string, (standing: Standing) => Problem>> = {
  ENOTFOUND: unresolvedProblem,
  ENODATA: unresolvedProblem,
  EAI_AGAIN: ({ host }) => ({ fault: 'dns', text: `the name ${host} cannot be resolved at the moment; try again` }),
  ECONNREFUSED: ({ host }) => ({
    fault: 'refused',
    text: `${host} refused the connection; check the port, and that the API is running`,
  }),
  ETIMEDOUT: standing => (standing.phase === 'connecting' ? connectTimeoutProblem(standing) : lostProblem(standing)),
  UND_ERR_CONNECT_TIMEOUT: connectTimeoutProblem,
  UND_ERR_BODY_TIMEOUT: ({ host, bodyIdleMs }) => ({
    fault: 'timeout',
    text: `${host} sent nothing for ${bodyIdleMs} ms in the middle of its response; check what delays the API`,
  }),
  UND_ERR_HEADERS_OVERFLOW: ({ host }) => ({
    fault: 'too_large',
    text: `the response headers from ${host} are larger than ${MAX_RESPONSE_HEADER_BYTES} bytes; have the API send fewer`,
  }),
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: interruptedProblem,
  HPE_INVALID_EOF_STATE: lostProblem,
  EMFILE: shortageProblem,
  ENFILE: shortageProblem,
  UND_ERR_DESTROYED: () => stoppingProblem,
  UND_ERR_CLOSED: () => stoppingProblem,
  UND_ERR_INVALID_ARG: () => ({
    fault: 'invalid_request',
    text: 'the method or a header of the request is not valid in HTTP/1.1; correct it',
  }),
}

const unreachableProblem = (code: string, host: string): Problem => {
  const detail = /^E[A-Z0-9_]+$/.test(code) ? ` (${code})` : ''
  return { fault: 'unreachable', text: `${host} cannot be reached${detail}; check the host, and the network it is in` }
}

const SHARES: Readonly<Record<UsedShare['of'], string>> = {
  organization: 'your organization',
  creator: 'the organizations that one user created, yours among them,',
}

const noConnectionProblem = ({ usedShare, waitedMs }: NoConnectionError, host: string): Problem => {
  const waited = `this one waited ${waitedMs / 1_000} s for a connection`
  const text =
    usedShare === undefined
      ? `too many requests of all organizations to ${host} are in progress; ${waited}; try again later`
      : `${usedShare.requests} requests of ${SHARES[usedShare.of]} to ${host} are in progress; ${waited}; send fewer at a time, or make the API respond faster`
  return { fault: 'busy', text }
}

export const noMemoryProblem = ({ usedShare, waitedMs }: NoMemoryError, host: string): Problem => {
  const waited = `this one from ${host} waited ${waitedMs / 1_000} s for memory`
  const text =
    usedShare === undefined
      ? `the memory for responses is in use by the calls of all organizations; ${waited}; ask for less or try again later, or have the operator raise PATCHBAY_MEMORY_MB`
      : `responses of ${SHARES[usedShare.of]} use ${formatBytes(usedShare.bytes)} of memory; ${waited}; ask for less, or send fewer calls at a time`
  return { fault: 'busy', text }
}

/** Explains why a request is not sent: its origin keeps failing. */
export const failingProblem = ({ failures, lastFailure, retryInMs }: OpenCircuit, host: string): Problem => {
  const next =
    retryInMs === 0 ? 'another call is trying it now' : `Patchbay tries it again in ${formatDuration(retryInMs)}`
  const text = `${host} failed ${failures} times in a row, the last time because ${lastFailure}; ${next}`
  return { fault: 'failing', text }
}

/** Explains an error from undici, the resolver, TLS or the system. */
export const problemOf = (error: unknown, standing: Standing): Problem => {
  if (error instanceof BlockedError) return { fault: 'blocked', text: error.message }
  if (error instanceof NameError) return { fault: 'dns', text: error.message }
  if (error instanceof NoConnectionError) return noConnectionProblem(error, standing.host)
  if (isLostConnection(error)) return lostProblem(standing)
  const code = codeOf(error)
  const known = Object.hasOwn(PROBLEMS, code) ? PROBLEMS[code] : undefined
  if (known !== undefined) return known(standing)
  if (isNoHttp(error)) return noHttpProblem(standing)
  const { isTls, host } = standing
  return (isTls ? tlsProblem(code, host) : undefined) ?? unreachableProblem(code, host)
}

const WAITED_FOR: Readonly<Record<Phase, (host: string) => string>> = {
  queued: host => `no connection to ${host} became free; too many calls are in progress`,
  connecting: host => `${host} did not accept a connection in time`,
  sent: host => `${host} did not respond in time`,
  receiving: host => `${host} did not finish its response in time`,
}

/** Returns the problem for a timeout of the whole request. The phase tells where the time was spent. */
export const timeoutProblem = (host: string, phase: Phase): Problem => ({
  fault: 'timeout',
  text: `${WAITED_FOR[phase](host)}; raise the tool's timeoutMs (PATCHBAY_MAX_TOOL_TIMEOUT_MS at most) or make the API faster`,
})

export const tooLargeProblem = (host: string, maxBytes: number): Problem => ({
  fault: 'too_large',
  text: `the response from ${host} is larger than ${maxBytes} bytes; ask for less, or raise PATCHBAY_MAX_RESPONSE_BYTES`,
})

/** The highest status of HTTP (RFC 9110 §15). `Response` of the Fetch standard allows no other. */
export const MAX_STATUS = 599
export const unknownStatusProblem = (host: string, status: number): Problem => ({
  fault: 'protocol',
  text: `${host} responded with ${status}, which is not an HTTP status`,
})

export const blocked = (text: string): Problem => ({ fault: 'blocked', text })
export const abortProblem: Problem = { fault: 'aborted', text: 'the call was cancelled' }
export const stoppingProblem: Problem = { fault: 'aborted', text: 'the call was cut off because Patchbay is stopping' }

/** Turns a problem into an error. Every message ends with the time that the request took. */
export type ToError = (problem: Problem) => OutboundError

/** Creates the error for a problem. `afterMs` is the time since the request began. */
export const toOutboundError = ({ fault, text, cause }: Problem, afterMs: number, attempts = 1): OutboundError => {
  const rounded = Math.round(afterMs)
  const tries = attempts > 1 ? ` and ${attempts} attempts` : ''
  const message = `${text} (after ${rounded} ms${tries})`
  return new OutboundError(fault, message, rounded, cause === undefined ? {} : { cause })
}
