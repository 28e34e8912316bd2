import { describe, expect, it } from 'vitest'
import { dayText } from '../../../src/lib/http/pages/time-text.ts'
import { showOutcome } from '../../../src/web/history/call-outcome.view.ts'

const SENT = { method: 'GET' }
const CACHED = { method: 'GET', answerAgeMs: 5 }
const MCP = { method: 'tools/call' }

describe('the words for a call', () => {
  it.each([
    ['200 OK', 'good', 'success', 200, SENT],
    ['204 No content', 'good', 'success', 204, SENT],
    ['200 OK, cached', 'good', 'success', 200, CACHED],
    ['OK', 'good', 'success', undefined, MCP],
    ['404 Not found', 'rejected', 'rejected', 404, SENT],
    ['414 URI too long', 'rejected', 'rejected', 414, SENT],
    ['429 Too many requests', 'rejected', 'rejected', 429, SENT],
    ['499', 'rejected', 'rejected', 499, SENT],
    ['Rejected', 'rejected', 'rejected', undefined, MCP],
    ['Invalid arguments', 'rejected', 'invalid_arguments', undefined, undefined],
    ['Blocked', 'rejected', 'blocked', undefined, SENT],
    ['Timed out', 'failed', 'timeout', undefined, SENT],
    ['Timed out', 'failed', 'timeout', 200, SENT],
    ['500 Server error', 'failed', 'failed', 500, SENT],
    ['503 Service unavailable', 'failed', 'failed', 503, SENT],
    ['505 HTTP version not supported', 'failed', 'failed', 505, SENT],
    ['401 Unauthorized', 'failed', 'failed', 401, SENT],
    ['200 OK, unusable response', 'failed', 'failed', 200, SENT],
    ['203 Non-authoritative information, unusable response', 'failed', 'failed', 203, SENT],
    ['No response', 'failed', 'failed', undefined, SENT],
    ['Failed', 'failed', 'failed', undefined, MCP],
    ['Not sent', 'failed', 'failed', undefined, undefined],
    ['503 Service unavailable', 'failed', 'failed', 503, undefined],
  ] as const)('are "%s", shown as %s, if it is %s with %s', (text, state, result, status, request) => {
    expect(showOutcome({ result, status, request })).toEqual({ text, state })
  })
})

describe('the name of a day', () => {
  const now = new Date('2026-11-26T00:00:00.500Z')
  it.each([
    ['2026-11-26T00:00:00.000Z', 'Today'],
    ['2026-11-25T23:59:59.999Z', 'Yesterday'],
    ['2026-11-25T00:00:00.000Z', 'Yesterday'],
    ['2026-11-24T23:59:59.999Z', 'Tue 24 November 2026'],
    ['2025-11-26T00:00:00.000Z', 'Wed 26 November 2025'],
  ])('of %s is %s', (time, text) => {
    expect(dayText(new Date(time), now)).toBe(text)
  })
})
