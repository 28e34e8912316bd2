import type { OutboundRequest } from './http-client.ts'

const ONCE = { once: true }

/**
 * Calls `stop` when the time is up or the signal says so, unless the function it returns was called before.
 * The signal is not looked at beforehand.
 */
export const armStops = (
  timeoutMs: number,
  signal: OutboundRequest['signal'],
  stop: (why: 'timeout' | 'aborted') => void,
): (() => void) => {
  const timer = setTimeout(stop, Math.max(1, timeoutMs), 'timeout')
  timer.unref()
  if (signal === undefined) return () => clearTimeout(timer)
  const onAbort = () => stop('aborted')
  signal.addEventListener('abort', onAbort, ONCE)
  return () => {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}
