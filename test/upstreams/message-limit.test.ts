import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createEventScreen } from '../../src/upstreams/connection/event-screen.ts'
import { createMessageLimit, MAX_MESSAGES_PER_SECOND } from '../../src/upstreams/connection/message-limit.ts'
import { createAwaitedRequests, createMessageScreen } from '../../src/upstreams/connection/message-screen.ts'
import { runsOf } from '../support/cases-of-run.ts'

const startLimit = () => {
  let time = 0
  const limit = createMessageLimit({ onListsMissed: () => {}, now: () => time })
  const pass = (ms: number): void => {
    time += ms
  }
  return { limit, pass }
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
})
