import { z } from 'zod'
import type { Settings } from '../lib/process/settings.ts'

/** How long to wait for the response of a process on this machine. */
const TIMEOUT_MS = 5_000

const Readiness = z.object({
  status: z.enum(['ok', 'degraded', 'unavailable', 'stopping']),
  problems: z.array(z.string()).default([]),
  advice: z.array(z.string()).default([]),
})

/** Returns the address at which a process with these settings is reached from this machine. */
const addressOf = ({ host, port }: Pick<Settings, 'host' | 'port'>): string => {
  const local = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${local.includes(':') ? `[${local}]` : local}:${port}`
}

const isRefused = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof Error && 'code' in error.cause && error.cause.code === 'ECONNREFUSED'

/** Asks the process that listens with these settings what is wrong with it. Returns undefined if none listens. */
export const askRunningServer = async (settings: Pick<Settings, 'host' | 'port'>) => {
  const address = addressOf(settings)
  try {
    const response = await fetch(`${address}/readyz`, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    return { address, ...Readiness.parse(await response.json()) }
  } catch (error) {
    if (isRefused(error)) return undefined
    const problem = 'It accepts connections but does not respond as Patchbay does: see its log.'
    return { address, status: 'unavailable' as const, problems: [problem], advice: [] }
  }
}
