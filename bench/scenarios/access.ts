/** Measures what checking a token adds to a call, and how much a flood of rejected sign-ins slows calls down. */
import type { Bench } from '../bench.ts'
import { inTurn } from '../checkouts.ts'
import { addAccessToken } from '../database.ts'
import { createToken, EMAIL } from '../patchbay.ts'
import { show } from '../report.ts'
import {
  addSliceTable,
  compareSlices,
  type Load,
  noteDisturbance,
  runSlice,
  type Slice,
  summarize,
  WARM_UP_MS,
} from '../slices.ts'
import { nameOf, type PatchbayTargets, startAllTargets, startFloor, type Target } from '../targets.ts'
import { WORKS } from '../tools.ts'
import { runAddedCost } from './added-cost.ts'

const LOAD: Load = { title: `${WORKS.user.title}, by caller`, work: WORKS.user, connections: 16 }
const MAX_TOKEN_COST = 1.05
const MAX_FLOOD_COST = 1.2
const SIGN_INS_PER_SECOND = 200
/** Sign-ins are sent in small batches because timers are not precise enough to send them one at a time. */
const BATCH_MS = 20

/** Sends wrong passwords for many accounts at a fixed rate. The returned function stops it and returns the statuses. */
const startFlood = (port: number) => {
  const statuses = new Map<number, number>()
  const pending = new Set<Promise<void>>()
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
    for (let left = (SIGN_INS_PER_SECOND * BATCH_MS) / 1_000; left > 0; left--) {
      const attempted = attempt().finally(() => pending.delete(attempted))
      pending.add(attempted)
    }
  }, BATCH_MS)
  return async (): Promise<ReadonlyMap<number, number>> => {
    clearInterval(timer)
    await Promise.all(pending)
    return statuses
  }
}

const createFlooded = (bench: Bench, target: Target) => {
  const statuses = new Map<number, number>()
  const run = async (): Promise<Slice> => {
    const stop = startFlood(target.endpoint.port)
    const slice = await runSlice(bench, target, LOAD, WARM_UP_MS)
    for (const [status, count] of await stop()) statuses.set(status, (statuses.get(status) ?? 0) + count)
    return slice
  }
  const first: Slice[] = []
  const calm: Slice[] = []
  const flooded: Slice[] = []
  return { target, statuses, run, first, calm, flooded }
}
type Flooded = ReturnType<typeof createFlooded>

const reportFlood = (bench: Bench, { target, statuses, first, calm, flooded }: Flooded): void => {
  const [before, during] = [summarize(calm), summarize(flooded)]
  const counts = [...statuses].map(([status, count]) => `${count} x ${status}`).join(', ')
  const title = `${WORKS.user.title}, during ${SIGN_INS_PER_SECOND} refused sign-ins a second (${counts})`
  addSliceTable(
    bench,
    target.checkout === 'other' ? `${title}, other checkout` : title,
    [
      ['no sign-ins', before],
      ['while the first ones are hashed', summarize(first)],
      ['during a flood', during],
    ],
    before,
  )
  if (target.checkout === 'other') return
  bench.addFigure({
    title: `p99 of calls during ${SIGN_INS_PER_SECOND} refused sign-ins a second, compared with none`,
    required: { atMost: MAX_FLOOD_COST },
    measured: during.p99Ms / before.p99Ms,
    unit: 'x',
    note: noteDisturbance(before, during),
  })
}

const runFlood = async (bench: Bench, floor: Target, targets: readonly Target[]): Promise<void> => {
  const all = targets.map(target => createFlooded(bench, target))
  // The first hundred sign-ins from an address are hashed before they are refused; the figure is about the later ones.
  for (const { first, run } of all) first.push(await run())
  const reference: Slice[] = []
  for (let round = 1; round <= bench.options.rounds; round++) {
    reference.push(await runSlice(bench, floor, LOAD, WARM_UP_MS))
    for (const { target, calm, flooded, run } of inTurn(all, round)) {
      const quiet = await runSlice(bench, target, LOAD, WARM_UP_MS)
      const loud = await run()
      calm.push(quiet)
      flooded.push(loud)
      bench.log(`round ${round}: ${nameOf(target)}: p99 ${show(quiet.p99Ms)} ms, during a flood ${show(loud.p99Ms)} ms`)
    }
  }
  for (const each of all) reportFlood(bench, each)
  const slices = all.map(({ flooded }) => flooded)
  compareSlices(bench, `${WORKS.user.title}, during refused sign-ins`, targets, slices, reference)
}

const toCallers = ({ stateless, hosted, databaseFile }: PatchbayTargets, personal: string) => {
  const oauth = addAccessToken(databaseFile, {
    email: EMAIL,
    serverId: hosted.uuid,
    resource: `http://localhost:${stateless.endpoint.port}${hosted.path}`,
  })
  const withToken = (name: string, token: string): Target => ({
    ...stateless,
    name,
    endpoint: { ...stateless.endpoint, authorization: `Bearer ${token}` },
  })
  return {
    open: { ...stateless, name: 'no token' },
    personal: withToken('a personal access token', personal),
    oauth: withToken('an OAuth token', oauth),
  }
}

export const runAccess = async (bench: Bench): Promise<void> => {
  const api = await bench.startOwn('fake-api', 'load')
  const floor = await startFloor(bench, api.url)
  const callers: ReturnType<typeof toCallers>[] = []
  for (const started of await startAllTargets(bench, api.url)) {
    callers.push(toCallers(started, await createToken(started.send, ['mcp'])))
  }
  const open = callers.map(caller => caller.open)
  const targets = [...open, ...callers.map(({ personal }) => personal), ...callers.map(({ oauth }) => oauth)]
  await runAddedCost(bench, { floor, targets, load: LOAD, maxCost: MAX_TOKEN_COST })
  await runFlood(bench, floor, open)
}
