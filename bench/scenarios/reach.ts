/** How soon every open stream hears of a change. */
import type { Bench } from '../bench.ts'
import { type Endpoint, encodePost, messageOf, type Session, STATELESS } from '../mcp.ts'
import { instanceOf } from '../patchbay.ts'
import { show } from '../report.ts'
import { median } from '../statistics.ts'
import { openListeners, openSessions } from '../streams.ts'
import { startOurs } from '../targets.ts'
import { openConnection } from '../wire.ts'

const MAX_REACH_MS = 1_000
const REACH_TIMEOUT_MS = 20_000
/** Between two changes: a late second notification must not be taken for the next change's. */
const REST_MS = 300

/** A change is answered once it is live, so the next list must show it. */
const checkListed = async (endpoint: Endpoint, text: string): Promise<void> => {
  const connection = await openConnection(endpoint.port)
  const answer = await connection.request(encodePost(endpoint, STATELESS, { id: 1, method: 'tools/list' }))
  connection.close()
  if (!JSON.stringify(messageOf(answer, 1)?.result?.tools).includes(text)) {
    throw new Error('a change was answered, but tools/list does not show it')
  }
}

/** Counts the streams that were told since the last reset, each once. */
const createTally = (count: number) => {
  const told = new Set<number>()
  let notify = (): void => undefined
  return {
    mark: (stream: number): void => {
      told.add(stream)
      if (told.size === count) notify()
    },
    /** Resolves when every stream was told, from now on. */
    waitForAll: (): Promise<void> => {
      told.clear()
      return new Promise((resolve, reject) => {
        const giveUp = () => reject(new Error(`${count - told.size} of ${count} streams never heard of a change`))
        const timer = setTimeout(giveUp, REACH_TIMEOUT_MS)
        notify = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    },
  }
}

export const runReach = async (bench: Bench): Promise<void> => {
  const { rounds, quick } = bench.options
  const count = quick ? 100 : 1_000
  const api = await bench.startOwn('fake-api', 'load')
  const { ours, send, hosted } = await startOurs(bench, api.url)
  const { endpoint } = ours.session
  const instance = instanceOf(hosted, 'get_user')
  const sessions: Session[] = await openSessions(endpoint, count / 2)
  const tally = createTally(count)
  const listeners = await openListeners(endpoint, [...sessions, ...sessions.map(() => STATELESS)], tally.mark)

  const answeredMs: number[] = []
  const reachedMs: number[] = []
  for (let round = 1; round <= rounds; round++) {
    await new Promise(resolve => setTimeout(resolve, REST_MS))
    const description = `Returns one user record, change ${round}.`
    const reached = tally.waitForAll()
    const from = performance.now()
    const answered = send('PATCH', `/instances/${instance.id}`, { description })
    await Promise.all([
      answered.then(() => answeredMs.push(performance.now() - from)),
      reached.then(() => reachedMs.push(performance.now() - from)),
    ])
    await checkListed(endpoint, description)
  }
  const lost = listeners.filter(({ isOpen }) => !isOpen()).length
  if (lost > 0) bench.addBroken(`${lost} of ${count} streams were closed by a change`)
  for (const listener of listeners) listener.close()

  bench.addTable({
    title: `A change reaches ${count} streams, half of them of each era, ms`,
    columns: ['', 'median', 'worst'],
    rows: [
      ['the change is answered', show(median(answeredMs)), show(Math.max(...answeredMs))],
      ['the last stream was told', show(median(reachedMs)), show(Math.max(...reachedMs))],
    ],
  })
  bench.addFigure({
    title: `a change reaches ${count} streams, worst of ${rounds}`,
    required: { atMost: MAX_REACH_MS },
    measured: Math.max(...reachedMs),
    unit: 'ms',
  })
}
