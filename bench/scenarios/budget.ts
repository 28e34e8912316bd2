/** What a budget for answers adds to calls whose answers are within it. */
import type { Bench } from '../bench.ts'
import { createHostedServer } from '../patchbay.ts'
import { startOurs } from '../targets.ts'
import { TOOLS, WORKS } from '../tools.ts'
import { runBeside } from './beside.ts'

const BUDGET = 8_000
const MAX_COST = 1.05
const LOAD = { work: WORKS.user, connections: 16 }

export const runBudget = async (bench: Bench): Promise<void> => {
  const api = await bench.startOwn('fake-api', 'load')
  const { ours, send } = await startOurs(bench, api.url)
  const { path } = await createHostedServer(send, api.url, TOOLS, BUDGET)
  const without = { ...ours.session, name: 'no budget' }
  const within = { ...ours.session, name: 'a budget', endpoint: { ...ours.session.endpoint, path } }
  await runBeside(bench, [without, within], {
    load: LOAD,
    title: `${LOAD.work.title}, with and without a budget of ${BUDGET} tokens`,
    maxCost: MAX_COST,
  })
}
