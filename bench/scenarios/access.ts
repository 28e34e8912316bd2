/** What the check of a token adds to a call, and what a flood of refused sign-ins does to calls. */
import type { Bench } from '../bench.ts'
import { addAccessToken } from '../database.ts'
import { createToken, EMAIL } from '../patchbay.ts'
import { show } from '../report.ts'
import { startOurs, type Target } from '../targets.ts'
import { WORKS } from '../tools.ts'
import { runBeside } from './beside.ts'
import { COLUMNS, type Load, noteDisturbance, runSlice, type Slice, summarize, toRow, WARM_UP_MS } from './calls.ts'

const LOAD: Load = { work: WORKS.user, connections: 16 }
const MAX_TOKEN_COST = 1.05
const MAX_FLOOD_COST = 1.2
const SIGN_INS_PER_SECOND = 200
/** Sign-ins are sent in small bunches, as timers are no finer. */
const BUNCH_MS = 20

/** Sends wrong passwords of many accounts at a fixed rate until it is stopped; tells how they were answered. */
const startFlood = (port: number) => {
  const statuses = new Map<number, number>()
  const underWay = new Set<Promise<void>>()
  let sent = 0
  const attempt = async (): Promise<void> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: `nobody${++sent}@example.test`, password: 'certainly the wrong one' }),
    })
    await response.arrayBuffer()
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
  }
  const timer = setInterval(() => {
    for (let left = (SIGN_INS_PER_SECOND * BUNCH_MS) / 1_000; left > 0; left--) {
      const attempted = attempt().finally(() => underWay.delete(attempted))
      underWay.add(attempted)
    }
  }, BUNCH_MS)
  return async (): Promise<ReadonlyMap<number, number>> => {
    clearInterval(timer)
    await Promise.all(underWay)
    return statuses
  }
}

const runFlood = async (bench: Bench, target: Target): Promise<void> => {
  const answers = new Map<number, number>()
  const runFlooded = async (): Promise<Slice> => {
    const stop = startFlood(target.endpoint.port)
    const slice = await runSlice(bench, target, LOAD, WARM_UP_MS)
    for (const [status, count] of await stop()) answers.set(status, (answers.get(status) ?? 0) + count)
    return slice
  }
  // The first hundred of an address are hashed before they are refused; the figure is of those that come after them.
  const first = await runFlooded()
  const calm: Slice[] = []
  const flooded: Slice[] = []
  for (let round = 1; round <= bench.options.rounds; round++) {
    const quiet = await runSlice(bench, target, LOAD, WARM_UP_MS)
    const loud = await runFlooded()
    calm.push(quiet)
    flooded.push(loud)
    bench.say(`round ${round}: p99 ${show(quiet.p99Ms)} ms, in a flood ${show(loud.p99Ms)} ms`)
  }
  const [before, during] = [summarize(calm), summarize(flooded)]
  const answered = [...answers].map(([status, count]) => `${count} x ${status}`).join(', ')
  bench.addTable({
    title: `${LOAD.work.title}, beside ${SIGN_INS_PER_SECOND} refused sign-ins a second (${answered})`,
    columns: ['', ...COLUMNS],
    rows: [
      toRow('calm', before, before),
      toRow('while the first are hashed', summarize([first]), before),
      toRow('in a flood', during, before),
    ],
  })
  bench.addFigure({
    title: `p99 of calls in a flood of ${SIGN_INS_PER_SECOND} sign-ins a second, beside none`,
    required: { atMost: MAX_FLOOD_COST },
    measured: during.p99Ms / before.p99Ms,
    unit: 'x',
    note: noteDisturbance(before, during),
  })
}

export const runAccess = async (bench: Bench): Promise<void> => {
  const api = await bench.startOwn('fake-api', 'load')
  const { ours, databaseFile, send, hosted } = await startOurs(bench, api.url)
  const personal = await createToken(send, ['mcp'])
  const oauth = addAccessToken(databaseFile, {
    email: EMAIL,
    serverId: hosted.uuid,
    resource: `http://localhost:${ours.stateless.endpoint.port}${hosted.path}`,
  })
  const withToken = (name: string, token: string): Target => ({
    ...ours.stateless,
    name,
    endpoint: { ...ours.stateless.endpoint, authorization: `Bearer ${token}` },
  })
  const open = { ...ours.stateless, name: 'no token' }
  const callers = [open, withToken('a personal access token', personal), withToken('an OAuth token', oauth)]
  await runBeside(bench, callers, { load: LOAD, title: `${LOAD.work.title}, by who calls`, maxCost: MAX_TOKEN_COST })
  await runFlood(bench, open)
}
