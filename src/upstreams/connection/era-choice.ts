import type { OpenConnection } from './open-connection.ts'
import { findProbeStatus } from './sdk-errors.ts'
import { UpstreamError } from './upstream-error.ts'

/** Makes one attempt to connect. Throws UpstreamError. */
type Attempt = (isSessionEra: boolean) => Promise<OpenConnection>

/** Combines the errors of both eras. `status` is the response to the probe for the stateless era. */
const failedInBoth = (status: number, error: unknown): unknown => {
  if (!(error instanceof UpstreamError) || error.kind === 'aborted') return error
  const first = `The MCP server responded with HTTP ${status} to server/discover. The older handshake (initialize) failed too:`
  const ownWords = `${first} ${error.ownWords}`
  return new UpstreamError(error.kind, `${first} ${error.message}`, { cause: error, ownWords })
}

/**
 * Connects in the newest era that the upstream supports, or only in the session era. If an upstream fails when it is
 * probed for the stateless era, tries the session era once.
 */
export const createEraChoice = (isSessionOnly: boolean) => {
  let isSessionEra = isSessionOnly
  /**
   * Set if a process exited in both eras. Each later attempt then starts the process in only one era, alternating
   * between the two.
   */
  let hasFailedInBoth = false

  const openProcess = async (attempt: Attempt, signal: AbortSignal): Promise<OpenConnection> => {
    try {
      const opened = await attempt(isSessionEra)
      isSessionEra = opened.client.getProtocolEra() === 'legacy'
      hasFailedInBoth = false
      return opened
    } catch (error) {
      // Some session-era servers exit when probed for the stateless era, but work without the probe.
      const hasEnded = error instanceof UpstreamError && error.kind === 'exited' && !signal.aborted
      if (hasEnded && hasFailedInBoth) isSessionEra = !isSessionEra
      if (!hasEnded || hasFailedInBoth || isSessionEra) throw error
      isSessionEra = true
      return attempt(true).catch((second: unknown) => {
        isSessionEra = false
        hasFailedInBoth = true
        throw second
      })
    }
  }

  const openRemote = async (attempt: Attempt, signal: AbortSignal): Promise<OpenConnection> => {
    try {
      return await attempt(isSessionOnly)
    } catch (error) {
      // Some session-era servers respond with a server error to a method that they do not know.
      const status = findProbeStatus(error)
      if (status === undefined || signal.aborted) throw error
      return attempt(true).catch((second: unknown) => {
        throw failedInBoth(status, second)
      })
    }
  }

  return { openProcess, openRemote }
}
