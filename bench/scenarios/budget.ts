/** Measures what a token budget adds to calls whose results fit into it. */
import type { Bench } from '../bench.ts'
import { createHostedServer } from '../patchbay.ts'
import { startAllTargets, startFloor, type Target } from '../targets.ts'
import { TOOLS, WORKS } from '../tools.ts'
import { runAddedCost } from './added-cost.ts'

const BUDGET = 8_000
const MAX_COST = 1.05
const LOAD = {
  title: `${WORKS.user.title}, with and without a budget of ${BUDGET} tokens`,
  work: WORKS.user,
  connections: 16,
}

export const runBudget = async (bench: Bench): Promise<void> => {
  const api = await bench.startOwn('fake-api', 'load')
  const floor = await startFloor(bench, api.url)
  const without: Target[] = []
  const within: Target[] = []
  for (const { session, send } of await startAllTargets(bench, api.url)) {
    const { path } = await createHostedServer(send, api.url, TOOLS, BUDGET)
    without.push({ ...session, name: 'no budget' })
    within.push({ ...session, name: 'a budget', endpoint: { ...session.endpoint, path } })
  }
  await runAddedCost(bench, { floor, targets: [...without, ...within], load: LOAD, maxCost: MAX_COST })
}
