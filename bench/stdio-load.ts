/** Calls a server directly over stdio, with one caller. */
import type { LoadResult } from './load.ts'
import type { Piped } from './process.ts'
import { quantile } from './statistics.ts'
import type { Work } from './tools.ts'

/** Makes one call after the other for `durationMs`, and checks every response. */
export const runStdioLoad = async ({ stdin, stdout }: Piped, work: Work, durationMs: number): Promise<LoadResult> => {
  const errors: Record<string, number> = {}
  const latenciesMs: number[] = []
  let held = ''
  let onLine = (_line: string): void => undefined
  const read = (text: string): void => {
    held += text
    for (let end = held.indexOf('\n'); end >= 0; end = held.indexOf('\n')) {
      const line = held.slice(0, end)
      held = held.slice(end + 1)
      onLine(line)
    }
  }
  stdout.setEncoding('utf8').on('data', read)
  const startedAt = performance.now()
  for (let id = 1; performance.now() - startedAt < durationMs; id++) {
    const request = `${JSON.stringify({ jsonrpc: '2.0', id, method: work.method, params: work.params })}\n`
    const from = performance.now()
    const line = await new Promise<string>(resolve => {
      onLine = resolve
      stdin.write(request)
    })
    const tookMs = performance.now() - from
    const message = JSON.parse(line)
    const isRight = message.id === id && line.includes(work.expected)
    if (isRight) latenciesMs.push(tookMs)
    else errors['wrong response'] = (errors['wrong response'] ?? 0) + 1
  }
  stdout.off('data', read)
  const seconds = (performance.now() - startedAt) / 1_000
  return {
    responses: latenciesMs.length,
    errors,
    seconds,
    requestsPerSecond: latenciesMs.length / seconds,
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
  }
}
