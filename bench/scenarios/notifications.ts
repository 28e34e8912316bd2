/** Measures how soon every open stream is notified of a change. */
import type { Bench } from '../bench.ts'
import { type Checkout, inTurn } from '../checkouts.ts'
import { type Endpoint, encodePost, messageOf, type Session, STATELESS } from '../mcp.ts'
import { instanceOf } from '../patchbay.ts'
import { show } from '../report.ts'
import { median } from '../statistics.ts'
import { openListeners, openSessions } from '../streams.ts'
import { startTargets } from '../targets.ts'
import { openConnection } from '../wire.ts'

const MAX_NOTIFICATION_MS = 1_000
const NOTIFICATION_TIMEOUT_MS = 20_000
/** Pause between two changes, so that a late second notification is not attributed to the next change. */
const REST_MS = 300

/** Throws unless tools/list shows the change, which it must: the server responds to a change only once it is live. */
const checkListed = async (endpoint: Endpoint, text: string): Promise<void> => {
  const connection = await openConnection(endpoint.port)
  const response = await connection.request(encodePost(endpoint, STATELESS, { id: 1, method: 'tools/list' }))
  connection.close()
  if (!JSON.stringify(messageOf(response, 1)?.result?.tools).includes(text)) {
    throw new Error('the server accepted a change, but tools/list does not show it')
  }
}

/** Counts the streams that have been notified since the last call to `waitForAll`, each stream once. */
const createTally = (count: number) => {
  const notified = new Set<number>()
  let resolveAll = (): void => undefined
  return {
    mark: (stream: number): void => {
      notified.add(stream)
      if (notified.size === count) resolveAll()
    },
    /** Resolves when every stream has been notified since this call. */
    waitForAll: (): Promise<void> => {
      notified.clear()
      return new Promise((resolve, reject) => {
        const giveUp = () =>
          reject(new Error(`${count - notified.size} of ${count} streams were not notified of a change`))
        const timer = setTimeout(giveUp, NOTIFICATION_TIMEOUT_MS)
        resolveAll = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    },
  }
}

const openStreams = async (bench: Bench, checkout: Checkout, apiUrl: string, count: number) => {
  const { session, send, hosted } = await startTargets(bench, checkout, apiUrl)
  const { endpoint } = session
  const sessions: Session[] = await openSessions(endpoint, count / 2)
  const tally = createTally(count)
  const listeners = await openListeners(endpoint, [...sessions, ...sessions.map(() => STATELESS)], tally.mark)
  const { id } = instanceOf(hosted, 'get_user')
  const respondedMs: number[] = []
  const notifiedMs: number[] = []
  return { checkout, send, endpoint, id, tally, listeners, respondedMs, notifiedMs }
}
type Opened = Awaited<ReturnType<typeof openStreams>>

const makeChange = async (opened: Opened, description: string): Promise<void> => {
  const { send, id, tally, respondedMs, notifiedMs } = opened
  await new Promise(resolve => setTimeout(resolve, REST_MS))
  const notified = tally.waitForAll()
  const from = performance.now()
  const responded = send('PATCH', `/instances/${id}`, { description })
  await Promise.all([
    responded.then(() => respondedMs.push(performance.now() - from)),
    notified.then(() => notifiedMs.push(performance.now() - from)),
  ])
  await checkListed(opened.endpoint, description)
}

export const runNotifications = async (bench: Bench): Promise<void> => {
  const { rounds, quick } = bench.options
  const count = quick ? 100 : 1_000
  const api = await bench.startOwn('fake-api', 'load')
  const all: Opened[] = []
  for (const checkout of bench.checkouts) all.push(await openStreams(bench, checkout, api.url, count))
  for (let round = 1; round <= rounds; round++) {
    for (const opened of inTurn(all, round)) await makeChange(opened, `Returns one user record, change ${round}.`)
  }
  for (const { checkout, listeners } of all) {
    const lost = listeners.filter(({ isOpen }) => !isOpen()).length
    if (lost > 0) bench.addBroken(`${checkout.name} checkout: a change closed ${lost} of ${count} streams`)
    for (const listener of listeners) listener.close()
  }

  bench.addTable({
    title: `Notifying ${count} streams of a change, half of them of each era, ms`,
    columns: ['', 'response, median', 'response, worst', 'last stream, median', 'last stream, worst'],
    rows: all.map(({ checkout, respondedMs, notifiedMs }) => [
      `${checkout.name} checkout`,
      show(median(respondedMs)),
      show(Math.max(...respondedMs)),
      show(median(notifiedMs)),
      show(Math.max(...notifiedMs)),
    ]),
  })
  bench.addFigure({
    title: `a change reaches ${count} streams, worst of ${rounds}`,
    required: { atMost: MAX_NOTIFICATION_MS },
    measured: Math.max(...(all[0]?.notifiedMs ?? [])),
    unit: 'ms',
  })
  bench.compareValues(
    `a change reaches ${count} streams`,
    'ms',
    all.map(({ notifiedMs }) => notifiedMs),
  )
}
