/** Measures how much one tenant's attack slows the calls of another tenant of the same installation. */
import { ATTACKS, type Attack, type AttackTarget, type Step } from '../attacks.ts'
import type { Bench } from '../bench.ts'
import { type Checkout, inTurn } from '../checkouts.ts'
import { type LoadResult, runLoad } from '../load.ts'
import type { Endpoint } from '../mcp.ts'
import { createHostedServer, signUp, startPatchbay } from '../patchbay.ts'
import { show } from '../report.ts'
import { median } from '../statistics.ts'
import { TOOLS, WORKS } from '../tools.ts'

/** The 99th percentile may rise by half, or by this much if it is more. */
const MAX_RISE_MS = 20
const MAX_RISE_RATIO = 0.5
/** How long an attack runs before the neighbour is measured. */
const LEAD_MS = 1_000
/** How long an attack may take to end: longer than the slowest response of the API. */
const END_MS = 40_000

/** Repeats the steps until the returned function is called, which resolves when the last calls have ended. */
const startAttack = (steps: readonly Step[]): (() => Promise<void>) => {
  let isOver = false
  const loops = steps.map(async step => {
    while (!isOver) await step()
  })
  return async () => {
    isOver = true
    const giveUp = new Promise<void>(resolve => setTimeout(resolve, END_MS).unref())
    await Promise.race([Promise.all(loops), giveUp])
  }
}

/** The calls of the neighbour in one round. */
type Round = { quiet: LoadResult; attacked: LoadResult }

const measure = async (endpoint: Endpoint, durationMs: number): Promise<LoadResult> =>
  runLoad({ endpoint, era: 'stateless', work: WORKS.user, connections: 1, durationMs, parsesAll: true })

const runRound = async (bench: Bench, endpoint: Endpoint, steps: readonly Step[]): Promise<Round> => {
  const { sliceMs } = bench.options
  const quiet = await measure(endpoint, sliceMs)
  const end = startAttack(steps)
  await new Promise(resolve => setTimeout(resolve, LEAD_MS))
  const attacked = await measure(endpoint, sliceMs)
  await end()
  return { quiet, attacked }
}

type Urls = Omit<AttackTarget, 'port'>

const open = async (bench: Bench, checkout: Checkout, attack: Attack, urls: Urls) => {
  const { child, port } = await startPatchbay(bench, checkout, bench.createDirectory('neighbours'), {}, 'both')
  // The first user is the operator and owns the neighbour's server.
  const { path } = await createHostedServer(await signUp(port), urls.sharedApiUrl, TOOLS)
  const steps = await attack.prepare({ port, ...urls })
  const rounds: Round[] = []
  return { checkout, child, endpoint: { port, path }, steps, rounds }
}

/** Returns the medians over the rounds, and how many of the neighbour's calls failed. */
const summarize = (rounds: readonly Round[]) => {
  const errors = rounds.flatMap(({ attacked }) => Object.entries(attacked.errors))
  const quietMs = median(rounds.map(({ quiet }) => quiet.p99Ms))
  const attackedMs = median(rounds.map(({ attacked }) => attacked.p99Ms))
  const allowedMs = Math.max(MAX_RISE_MS, quietMs * MAX_RISE_RATIO)
  return { quietMs, attackedMs, allowedMs, errors }
}

const runAttack = async (bench: Bench, attack: Attack, urls: Urls): Promise<string[][]> => {
  const all: Awaited<ReturnType<typeof open>>[] = []
  for (const checkout of bench.checkouts) all.push(await open(bench, checkout, attack, urls))
  for (let round = 1; round <= bench.options.rounds; round++) {
    for (const { endpoint, steps, rounds, checkout } of inTurn(all, round)) {
      const made = await runRound(bench, endpoint, steps)
      rounds.push(made)
      bench.log(
        `round ${round} of ${bench.options.rounds}: ${attack.title}, ${checkout.name} checkout: ` +
          `p99 ${show(made.quiet.p99Ms)} ms, under attack ${show(made.attacked.p99Ms)} ms`,
      )
    }
  }
  await Promise.all(all.map(({ child }) => child.stop()))
  return all.map(({ checkout, rounds }) => {
    const { quietMs, attackedMs, allowedMs, errors } = summarize(rounds)
    if (checkout === bench.own) {
      bench.addFigure({
        title: `p99 of a neighbour rises during: ${attack.title}`,
        required: { atMost: allowedMs },
        measured: errors.length > 0 ? Number.NaN : attackedMs - quietMs,
        unit: 'ms',
      })
    }
    const failed = errors.map(([fault, count]) => `${count} x ${fault}`).join(', ')
    return [attack.title, `${checkout.name} checkout`, show(quietMs), show(attackedMs), show(allowedMs), failed]
  })
}

export const runNeighbours = async (bench: Bench): Promise<void> => {
  const shared = await bench.startOwn('fake-api', 'load')
  const api = await bench.startOwn('fake-api', 'load')
  const flood = await bench.startOwn('mcp-upstream', 'load', ['--floods'])
  const urls = { apiUrl: api.url, sharedApiUrl: shared.url, floodUrl: flood.url }
  const rows: string[][] = []
  for (const attack of ATTACKS) rows.push(...(await runAttack(bench, attack, urls)))
  bench.addTable({
    title: 'Calls of 300 bytes by a neighbour while another tenant attacks; Patchbay on two cores',
    columns: ['attack', '', 'p99 before, ms', 'p99 during, ms', 'allowed rise, ms', 'failed calls'],
    rows,
  })
}
