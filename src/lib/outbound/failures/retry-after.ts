import type { OutboundResponse } from '../outbound-request.ts'

/**
 * Returns how long a response asks to wait before the next request (RFC 9110 §10.2.3), in milliseconds; 0 if it does not
 * ask. A date counts from the response's own date, because the clocks of two machines differ.
 */
export const readRetryAfter = ({ headers }: Pick<OutboundResponse, 'headers'>): number => {
  const value = headers['retry-after']
  if (typeof value !== 'string') return 0
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000
  const sentAt = typeof headers.date === 'string' ? Date.parse(headers.date) : Number.NaN
  const waitMs = Date.parse(value) - (Number.isNaN(sentAt) ? Date.now() : sentAt)
  return Number.isNaN(waitMs) ? 0 : Math.max(waitMs, 0)
}
