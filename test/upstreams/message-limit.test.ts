import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createEventScreen } from '../../src/upstreams/connection/event-screen.ts'
import {
  createMessageLimit,
  createOrganizationLimits,
  MAX_MESSAGES_OF_ORGANIZATION,
  MAX_MESSAGES_PER_SECOND,
} from '../../src/upstreams/connection/message-limit.ts'
import { createAwaitedRequests, createMessageScreen } from '../../src/upstreams/connection/message-screen.ts'
import { runsOf } from '../support/cases-of-run.ts'

const startLimits = () => {
  let time = 0
  const now = (): number => time
  const limitOf = createOrganizationLimits(now)
  const attach = (organizationId: string) =>
    createMessageLimit({ onListsMissed: () => {}, organization: limitOf(organizationId), now })
  const pass = (ms: number): void => {
    time += ms
  }
  return { attach, pass, now }
}
const startLimit = () => {
  const { attach, pass } = startLimits()
  return { limit: attach('one'), pass }
}
const countAccepted = (tries: number, accept: () => boolean): number =>
  Array.from({ length: tries }, accept).filter(accepted => accepted).length

describe('the limit on messages of an upstream', () => {
  it('accepts 100 per second', () => {
    const { limit, pass } = startLimit()
    const send = () => countAccepted(1_000, () => limit.acceptNotification(10, false))
    expect(send()).toBe(MAX_MESSAGES_PER_SECOND)
    pass(999)
    expect(send()).toBe(0)
    pass(1)
    expect(send()).toBe(MAX_MESSAGES_PER_SECOND)
  })

  it('counts a large message in the following seconds, too', () => {
    const { limit, pass } = startLimit()
    expect(limit.acceptNotification(4 * 1_024 * 1_024, false)).toBe(true)
    for (const expected of [0, 0, 43, 100]) {
      expect(countAccepted(200, () => limit.acceptNotification(10, false))).toBe(expected)
      pass(1_000)
    }
  })

  it('counts dropped messages from 0 again after a quiet minute', () => {
    const { limit, pass } = startLimit()
    const flood = () => countAccepted(150, () => limit.acceptNotification(10, false))
    flood()
    expect(limit.countDropped()).toBe(50)
    pass(60_000)
    expect(limit.countDropped()).toBe(50)
    flood()
    expect(limit.countDropped()).toBe(100)
    pass(60_001)
    expect(limit.countDropped()).toBe(0)
    flood()
    expect(limit.countDropped()).toBe(50)
  })
})

describe('the limits on all upstreams together', () => {
  it('accept 400 per second of one organization, and still those of others', () => {
    const { attach, pass } = startLimits()
    const own = Array.from({ length: 10 }, () => attach('one'))
    const send = (limits: typeof own, accept: (limit: (typeof own)[number]) => boolean) =>
      limits.reduce((sum, limit) => sum + countAccepted(200, () => accept(limit)), 0)
    for (let second = 0; second < 3; second++) {
      expect(send(own, limit => limit.acceptNotification(10, false))).toBe(MAX_MESSAGES_OF_ORGANIZATION)
      expect(send(own, limit => limit.acceptRequest(10))).toBe(MAX_MESSAGES_OF_ORGANIZATION)
      expect(send([attach('other')], limit => limit.acceptRequest(10))).toBe(MAX_MESSAGES_PER_SECOND)
      pass(1_000)
    }
  })

  /** Reads floods for 10 seconds. Returns the share of the time that each organization's reads took. */
  const readFloods = (organizations: readonly string[]): Map<string, number> => {
    const { attach, pass, now } = startLimits()
    const READ_MS = 1
    const END_MS = 10_000
    const streams = organizations.map(organization => ({ organization, limit: attach(organization), readAt: 0 }))
    const used = new Map<string, number>()
    while (now() < END_MS) {
      const [next] = streams.toSorted((one, other) => one.readAt - other.readAt)
      if (next === undefined) break
      pass(Math.max(0, next.readAt - now()))
      const { pauseMs } = next.limit.pace(() => {
        pass(READ_MS)
        next.limit.drop(false)
      })
      next.readAt = now() + pauseMs
      used.set(next.organization, (used.get(next.organization) ?? 0) + READ_MS / END_MS)
    }
    return used
  }

  it.each([1, 10, 100])('read %i floods of one organization in a tenth of the time', count => {
    const used = readFloods(Array.from({ length: count }, () => 'one'))
    expect(used.get('one')).toBeGreaterThan(0.05)
    expect(used.get('one')).toBeLessThan(0.11)
  })

  it('share this time equally among organizations', () => {
    const used = readFloods(['other', ...Array.from({ length: 20 }, () => 'one')])
    expect(used.get('one')).toBeLessThan(0.06)
    expect(used.get('other')).toBeGreaterThan(0.04)
  })
})

const ends = fc.constantFrom('\n', '\r\n', '\r')
const messages = fc.array(
  fc.record({
    kind: fc.constantFrom('response' as const, 'notification' as const, 'request' as const, 'unknown' as const),
    text: fc.string({ maxLength: 20 }),
    isIdLast: fc.boolean(),
  }),
  { maxLength: 30 },
)

describe('an event stream, in any chunks and with any line ends', () => {
  const toEvent = ({ kind, text, isIdLast }: { kind: string; text: string; isIdLast: boolean }, id: number) => {
    if (kind === 'notification') return { jsonrpc: '2.0', method: 'a', params: { id, text } }
    if (kind === 'request') return { jsonrpc: '2.0', id: `asked-${id}`, method: 'a', params: { text } }
    const result = { text, nested: [{ id: 7 }] }
    const own = kind === 'response' ? id : 1_000 + id
    return isIdLast ? { jsonrpc: '2.0', result, id: own } : { id: own, jsonrpc: '2.0', result }
  }
  const idsOf = (stream: string): unknown[] =>
    stream
      .split(/\r\n|\n|\r/)
      .filter(line => line.startsWith('data:'))
      .map(line => JSON.parse(line.slice('data:'.length)))
      .filter(message => !('method' in message) && message.id < 1_000)
      .map(({ id }) => id)

  it.each([
    ['within the limit is passed on unchanged', 0],
    ['over the limit keeps all responses that somebody waits for, in order', 1_000],
  ])('%s', (_title, before) => {
    fc.assert(
      fc.property(messages, ends, fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1 }), (sent, end, sizes) => {
        const { limit } = startLimit()
        countAccepted(before, () => limit.acceptNotification(0, false))
        countAccepted(before, () => limit.acceptRequest(0))
        const awaited = createAwaitedRequests()
        const add = createEventScreen(createMessageScreen({ limit, awaited, send: () => {} }))
        for (const [id, { kind }] of sent.entries()) if (kind === 'response') awaited.add(id)
        const events = sent.map(
          (message, id) => `event: message${end}data:${JSON.stringify(toEvent(message, id))}${end}${end}`,
        )
        const stream = Buffer.from(events.join(''))
        const passed: Buffer[] = []
        for (let at = 0, turn = 0; at < stream.length; turn++) {
          const size = sizes[turn % sizes.length] ?? 1
          passed.push(...add(stream.subarray(at, at + size)))
          at += size
        }
        const shown = Buffer.concat(passed).toString()
        if (before === 0) expect(shown).toBe(stream.toString())
        else expect(idsOf(shown)).toEqual(sent.flatMap(({ kind }, id) => (kind === 'response' ? [id] : [])))
        const others = sent.slice(1).filter(({ kind }) => kind !== 'response')
        if (before > 0) expect(shown.match(/"method"/g)?.length ?? 0).toBeLessThanOrEqual(1)
        expect(limit.countDropped()).toBeLessThanOrEqual(before + others.length)
      }),
      { numRuns: runsOf(300) },
    )
  })

  it('passes on the beginning of a large event before it is complete', () => {
    const { limit } = startLimit()
    const add = createEventScreen(createMessageScreen({ limit, awaited: createAwaitedRequests(), send: () => {} }))
    const piece = Buffer.alloc(64 * 1_024, 'x')
    const parts = [Buffer.from('data: "'), ...Array.from({ length: 20 }, () => piece), Buffer.from('"\n\n: next\n\n')]
    const passed = parts.map(part => add(part).reduce((sum, { length }) => sum + length, 0))
    expect(passed.slice(0, 3)).toEqual([0, 0, 0])
    expect(passed.slice(6, -1)).toEqual(passed.slice(6, -1).map(() => piece.length))
    expect(passed.reduce((sum, length) => sum + length)).toBe(Buffer.concat(parts).length)
  })

  const startStream = () => {
    const { limit } = startLimit()
    const awaited = createAwaitedRequests()
    const add = createEventScreen(createMessageScreen({ limit, awaited, send: () => {} }))
    /** Returns how many of these messages pass. */
    const count = (sent: readonly object[]): number => {
      const passed = add(Buffer.from(sent.map(message => `data: ${JSON.stringify(message)}\n\n`).join('')))
      return Buffer.concat(passed).toString().split('data: ').length - 1
    }
    const countRequests = (): number => countAccepted(200, () => limit.acceptRequest(0))
    return { awaited, add, count, countRequests }
  }
  const LARGE = 'x'.repeat(1_024 * 1_024)

  it('passes on one response to a request, and counts repeated ones', () => {
    const { awaited, count } = startStream()
    awaited.add(1)
    expect(count(Array.from({ length: 2_000 }, () => ({ id: 1, result: {} })))).toBe(1 + MAX_MESSAGES_PER_SECOND)
  })

  it('counts its first event, which passes even over the limit', () => {
    const { count, countRequests } = startStream()
    expect(count([{ id: 'asked', method: 'ping' }])).toBe(1)
    expect(countRequests()).toBe(MAX_MESSAGES_PER_SECOND - 1)
  })

  it('counts neither awaited responses nor notifications that contain an id as requests', () => {
    const { awaited, count, countRequests } = startStream()
    const ids = Array.from({ length: 50 }, (_, id) => id)
    for (const id of ids) awaited.add(id)
    const notification = { method: 'notifications/message', params: { data: { id: 1, text: 'x'.repeat(100_000) } } }
    expect(count([notification, ...ids.map(id => ({ id, result: {} }))])).toBe(51)
    expect(countRequests()).toBe(MAX_MESSAGES_PER_SECOND)
  })

  it.each([
    ['an awaited response', { jsonrpc: '2.0', id: 1, result: LARGE }, MAX_MESSAGES_PER_SECOND],
    ['an awaited response whose id is last', { result: LARGE, jsonrpc: '2.0', id: 1 }, MAX_MESSAGES_PER_SECOND - 1],
    ['a response that nobody waits for', { jsonrpc: '2.0', id: 2, result: LARGE }, 35],
    ['a request with the id of an awaited response', { jsonrpc: '2.0', id: 1, method: 'ping', params: LARGE }, 35],
  ])('counts the size of a large event, unless it is an awaited response: %s', (_title, message, left) => {
    const { awaited, add, countRequests } = startStream()
    awaited.add(1)
    const event = Buffer.from(`data: ${JSON.stringify(message)}\n\n`)
    const passed: Buffer[] = [...add(Buffer.from(': first\n\n'))]
    for (let at = 0; at < event.length; at += 65_536) passed.push(...add(event.subarray(at, at + 65_536)))
    expect(Buffer.concat(passed).length).toBe(': first\n\n'.length + event.length)
    expect(countRequests()).toBe(left)
    expect(awaited.claim(1)).toBe(left === 35)
  })
})
