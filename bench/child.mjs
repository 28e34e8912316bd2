/**
 * Preloaded into every process that the benchmark starts (`node --import`). It ends the process when the benchmark
 * ends, for whatever reason. On request it reports the memory after a full garbage collection, the longest time the
 * event loop was blocked since the last request, or a CPU profile of the main thread. It is not TypeScript, because
 * Node's type stripping would add 20 MB to the measured process.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

const collect = async () => {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc')
  if (typeof gc !== 'function') return
  // The second round frees the objects that the first one finalized.
  for (let round = 0; round < 2; round++) {
    gc()
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

const NANOSECONDS_OF_MS = 1_000_000
let delay

/** Starts measuring on the first request. Replies once the histogram has a value again after its reset. */
const reportDelay = () => {
  const blockedMs = delay === undefined ? 0 : delay.max / NANOSECONDS_OF_MS
  delay ??= monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  delay.reset()
  const report = () => {
    if (delay.count > 0) process.send({ blockedMs })
    else setTimeout(report, 1)
  }
  report()
}

const SAMPLE_EVERY_US = 200
let profiler

const startProfile = async () => {
  const { Session } = await import('node:inspector/promises')
  profiler = new Session()
  profiler.connect()
  await profiler.post('Profiler.enable')
  await profiler.post('Profiler.setSamplingInterval', { interval: SAMPLE_EVERY_US })
  await profiler.post('Profiler.start')
  process.send({ isProfiling: true })
}

const stopProfile = async () => {
  const { profile } = await profiler.post('Profiler.stop')
  profiler.disconnect()
  process.send({ profile })
}

if (isMainThread && process.send !== undefined) {
  process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.on('message', message => {
    if (message === 'memory') void collect().then(() => process.send(process.memoryUsage()))
    if (message === 'delay') reportDelay()
    if (message === 'start-profile') void startProfile()
    if (message === 'stop-profile') void stopProfile()
  })
  process.channel?.unref()
}
