/** Checks that no call fails while its server is changed again and again. */
import type { Bench } from '../bench.ts'
import { type LoadResult, runLoad } from '../load.ts'
import { type HostedServer, instanceOf, type Send } from '../patchbay.ts'
import { show } from '../report.ts'
import { startTargets, type Target } from '../targets.ts'
import { WORKS } from '../tools.ts'

/** For each era. */
const CONNECTIONS = 8
/** Time limit for the load, in case the changes never end. */
const MAX_LOAD_MS = 300_000

const addAndRemove = async (send: Send, { uuid, instances }: HostedServer, name: string): Promise<void> => {
  const { toolId } = instanceOf({ instances }, 'filler_0')
  const made = await send('POST', `/servers/${uuid}/instances`, { toolId, name })
  const id = typeof made === 'object' && made !== null && 'id' in made ? String(made.id) : ''
  await send('DELETE', `/instances/${id}`)
}

/** Makes one of several kinds of changes that no caller may notice: globals, descriptions, added and removed tools. */
const makeChange = async (send: Send, hosted: HostedServer, index: number): Promise<void> => {
  const server = `/servers/${hosted.uuid}`
  const called = `/instances/${instanceOf(hosted, 'get_user').id}`
  const kinds = [
    () => send('PUT', `${server}/globals/bench`, { value: `value ${index}` }),
    () => send('PATCH', server, { description: `Description ${index}` }),
    () => send('PATCH', called, { description: `Description ${index}` }),
    () => addAndRemove(send, hosted, `extra_${index}`),
  ]
  await kinds[index % kinds.length]?.()
}

export const runChanges = async (bench: Bench): Promise<void> => {
  const changes = bench.options.quick ? 40 : 1_000
  const api = await bench.startOwn('fake-api', 'load')
  const { session, stateless, send, hosted } = await startTargets(bench, bench.own, api.url)
  let isDone = false
  const startLoad = ({ endpoint, era }: Target): Promise<LoadResult> =>
    runLoad({
      endpoint,
      era,
      work: WORKS.user,
      connections: CONNECTIONS,
      durationMs: MAX_LOAD_MS,
      isDone: () => isDone,
      parsesAll: true,
    })
  const loads = Promise.all([startLoad(session), startLoad(stateless)])
  const from = performance.now()
  try {
    for (let index = 0; index < changes; index++) await makeChange(send, hosted, index)
  } finally {
    isDone = true
  }
  const seconds = (performance.now() - from) / 1_000
  const results = await loads

  const responses = results.reduce((sum, result) => sum + result.responses, 0)
  const errors = results.flatMap(result => Object.entries(result.errors))
  const failed = errors.reduce((sum, [, count]) => sum + count, 0)
  bench.addTable({
    title: `${changes} changes under load`,
    columns: ['', 'changes/s', 'calls/s', 'calls', 'failed'],
    rows: [['', show(changes / seconds), show(responses / seconds), String(responses), String(failed)]],
  })
  bench.addFigure({
    title: `calls that fail during ${changes} changes`,
    required: { atMost: 0 },
    measured: failed,
    unit: '',
    note: errors.map(([fault, count]) => `${count} x ${fault}`).join('; '),
  })
}
