/**
 * Loaded into every process that the benchmark starts (`node --import`). The process ends with the benchmark, however
 * that ends, and tells what memory it holds after a full collection when it is asked. Costs nothing until then; not in
 * TypeScript, for then it would: Node's own compiler takes 20 MB of the process that is measured.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

const collect = async () => {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc')
  if (typeof gc !== 'function') return
  // Twice: what the first round finalizes, the second one frees.
  for (let round = 0; round < 2; round++) {
    gc()
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

if (isMainThread && process.send !== undefined) {
  process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.on('message', message => {
    if (message === 'memory') void collect().then(() => process.send(process.memoryUsage()))
  })
  process.channel?.unref()
}
