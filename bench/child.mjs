/**
 * Loaded into every process that the benchmark starts (`node --import`). The process ends with the benchmark, however
 * that ends, and when it is asked tells what memory it holds after a full collection, or how long its event loop stood
 * still at most since it was asked last. Costs nothing until then; not in
 * TypeScript, for then it would: Node's own compiler takes 20 MB of the process that is measured.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
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

const NANOSECONDS_OF_MS = 1_000_000
let delay

/** Watched from the first question on; answered once it counts again, which it does from its next turn on. */
const tellDelay = () => {
  const blockedMs = delay === undefined ? 0 : delay.max / NANOSECONDS_OF_MS
  delay ??= monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  delay.reset()
  const tell = () => {
    if (delay.count > 0) process.send({ blockedMs })
    else setTimeout(tell, 1)
  }
  tell()
}

if (isMainThread && process.send !== undefined) {
  process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.on('message', message => {
    if (message === 'memory') void collect().then(() => process.send(process.memoryUsage()))
    if (message === 'delay') tellDelay()
  })
  process.channel?.unref()
}
