/** What every scenario gets: the options, the processes it may start, and where its results go. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Options } from './options.ts'
import { type Child, createRig, findFreePort } from './process.ts'
import type { Figure, Table } from './report.ts'
import { openConnection } from './wire.ts'

const START_MS = 20_000

export type Started = { child: Child; port: number; url: string }

const waitUntilOpen = async ({ name, exitCode }: Child, port: number): Promise<void> => {
  for (const from = performance.now(); performance.now() - from < START_MS; ) {
    try {
      return (await openConnection(port)).close()
    } catch {
      if (exitCode() !== undefined) throw new Error(`${name} ended while it was started`)
      await new Promise(resolve => setTimeout(resolve, 5))
    }
  }
  throw new Error(`${name} does not listen after ${START_MS} ms`)
}

export const createBench = (options: Options) => {
  const directory = mkdtempSync(join(tmpdir(), 'patchbay-bench-'))
  const logFile = join(directory, 'bench.log')
  const rig = createRig(logFile)
  const figures: Figure[] = []
  const tables: Table[] = []
  const broken: string[] = []

  /** Starts one of the benchmark's own servers, `bench/<name>.ts`, and waits until it listens. */
  const startOwn = async (name: string, side: 'server' | 'load', args: readonly string[] = []): Promise<Started> => {
    const port = await findFreePort()
    const script = new URL(`./${name}.ts`, import.meta.url).pathname
    const child = rig.start({ name, side, args: [script, '--port', String(port), ...args] })
    await waitUntilOpen(child, port)
    return { child, port, url: `http://127.0.0.1:${port}` }
  }

  return {
    options,
    rig,
    logFile,
    results: { figures, tables, broken },
    startOwn,
    say: (line: string): void => console.error(line),
    /** A new folder for a database, gone with the benchmark. */
    createDirectory: (name: string): string => mkdtempSync(join(directory, `${name}-`)),
    addFigure: (figure: Figure): void => void figures.push(figure),
    addTable: (table: Table): void => void tables.push(table),
    /** Something did not work: no figure says anything then. */
    addBroken: (what: string): void => void broken.push(what),
    close: async (): Promise<void> => {
      await rig.stopAll()
      rig.close()
      if (!options.keep) rmSync(directory, { recursive: true, force: true })
    },
  }
}
export type Bench = ReturnType<typeof createBench>
