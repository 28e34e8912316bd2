/** Recorded calls as a busy organization has them after three months. */
import type { SummedTokens } from '../../src/history/sums/amounts.ts'
import type { SummedCall } from '../../src/history/sums/call-sums.ts'

const DAYS = 90
const DAY_MS = 24 * 60 * 60 * 1_000
const CALLERS = 50
const CLIENTS = ['claude-desktop/1.4.0', 'cursor/2.1.0', 'vscode/1.99.0', 'my-agent/0.3.0']

/** A server, and the tools that its calls name. */
export type CalledServer = {
  id: string
  organizationId: string
  tools: readonly { name: string; instanceId: string }[]
}

/** A row of `Execution`, except for its creation. `startedAt` in milliseconds since the epoch. */
export type Call = SummedCall & {
  id: string
  organizationId: string
  requestId: string
  requestBytes: number
  responseBytes: number
  error: string | null
  request: string
  arguments: string
  timing: string
  tokens: SummedTokens
}

/** Returns numbers from 0 to 1 from a fixed seed (mulberry32), so that every run fills the same rows. */
const createRandom = (seed: number) => {
  let state = seed
  return (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const pick = <T>(items: readonly T[], share: number): T => {
  const item = items[Math.floor(share * items.length)]
  if (item === undefined) throw new Error('there is nothing to pick from')
  return item
}

/** Most calls succeed, and some results are rare, as a filter by one of them has to read far. */
const ENDS = [
  { until: 0.93, outcome: 'ok', result: 'success', status: 200, error: null },
  { until: 0.98, outcome: 'error', result: 'rejected', status: 404, error: 'The API responded with 404.' },
  { until: 0.995, outcome: 'error', result: 'failed', status: 500, error: 'The API responded with 500.' },
  { until: 0.999_9, outcome: 'error', result: 'timeout', status: null, error: 'The API took too long.' },
  { until: 1, outcome: 'error', result: 'blocked', status: null, error: 'The address is private.' },
] as const

const endOf = (share: number): (typeof ENDS)[number] => ENDS.find(({ until }) => share < until) ?? ENDS[0]

/** Ids like version 7 UUIDs, in the order of time. */
const idOf = (time: number, index: number): string => {
  const hex = time.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${index.toString(16).padStart(12, '0')}`
}

const callerOf = (index: number): string => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`

/** Generates calls in the order of time, up to `now`. */
export function* generateCalls(servers: readonly CalledServer[], count: number, now: number): Generator<Call> {
  const random = createRandom(20)
  for (let index = 0; index < count; index++) {
    const startedAt = Math.floor(now - DAYS * DAY_MS * (1 - index / count))
    // The first servers and tools are called more often.
    const server = pick(servers, random() * random())
    const tool = pick(server.tools, random() * random())
    const { until: _, ...end } = endOf(random())
    const durationMs = Math.round(20_000 * Math.exp(8 * random())) / 1_000
    const sent = 40 + Math.floor(random() * 2_000)
    yield {
      id: idOf(startedAt, index),
      serverId: server.id,
      organizationId: server.organizationId,
      instanceId: tool.instanceId,
      tool: tool.name,
      userId: callerOf(Math.floor(CALLERS * random() * random())),
      client: pick(CLIENTS, random()),
      startedAt,
      durationMs,
      ...end,
      requestId: `9f3c01aa-${index.toString(36)}`,
      requestBytes: 120,
      responseBytes: sent * 4,
      request: `{"method":"GET","url":"https://api.example.com/v1/customers/${index}/orders?limit=20","headers":[["accept","application/json"],["authorization","•••"]]}`,
      arguments: `{"values":{"customer":${index},"limit":20},"cut":[],"masked":[]}`,
      timing: `{"resolveMs":0.1,"firstByteMs":${durationMs},"bodyMs":0.4}`,
      tokens: { sent, otherwise: sent * 2 },
    }
  }
}
