/**
 * The resources that every scenario receives: the options, the checkouts to measure, a function that starts processes,
 * and a collector for results.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Checkout } from './checkouts.ts'
import { type Compared, type Comparison, compare } from './comparison.ts'
import type { Options } from './options.ts'
import { type Child, createRig, findFreePort, type StartOptions } from './process.ts'
import type { Figure, Table } from './report.ts'
import { openConnection } from './wire.ts'

const START_MS = 20_000

export type Started = { child: Child; port: number; url: string }

const waitUntilOpen = async ({ name, exitCode }: Child, port: number): Promise<void> => {
  for (const from = performance.now(); performance.now() - from < START_MS; ) {
    try {
      return (await openConnection(port)).close()
    } catch {
      if (exitCode() !== undefined) throw new Error(`${name} exited during startup`)
      await new Promise(resolve => setTimeout(resolve, 5))
    }
  }
  throw new Error(`${name} is not listening after ${START_MS} ms`)
}

export const createBench = (options: Options, [own, other]: readonly [own: Checkout, other?: Checkout]) => {
  const directory = mkdtempSync(join(tmpdir(), 'patchbay-bench-'))
  const logFile = join(directory, 'bench.log')
  const rig = createRig(logFile)
  const figures: Figure[] = []
  const tables: Table[] = []
  const comparisons: Compared[] = []
  const broken: string[] = []

  /** Starts one of the benchmark's own servers, `bench/<name>.ts`, and waits until it listens. */
  const startOwn = async (name: string, side: StartOptions['side'], args: readonly string[] = []): Promise<Started> => {
    const port = await findFreePort()
    const script = new URL(`./${name}.ts`, import.meta.url).pathname
    const child = rig.start({ name, side, args: [script, '--port', String(port), ...args] })
    await waitUntilOpen(child, port)
    return { child, port, url: `http://127.0.0.1:${port}` }
  }

  return {
    options,
    /** This checkout and, with `--against`, another one. */
    checkouts: other === undefined ? [own] : [own, other],
    own,
    rig,
    logFile,
    results: { figures, tables, comparisons, broken },
    startOwn,
    log: (line: string): void => console.error(line),
    /** Creates a folder for a database, which is deleted when the benchmark ends. */
    createDirectory: (name: string): string => mkdtempSync(join(directory, `${name}-`)),
    addFigure: (figure: Figure): void => void figures.push(figure),
    addTable: (table: Table): void => void tables.push(table),
    addComparison: (comparison: Comparison): void => void comparisons.push(compare(comparison)),
    /**
     * Compares the measurements of both checkouts, given in the order of `checkouts`. Does nothing if there is only one
     * checkout.
     */
    compareValues: (title: string, unit: string, [here, others]: readonly (readonly number[])[]): void => {
      if (here !== undefined && others !== undefined) comparisons.push(compare({ title, unit, here, other: others }))
    },
    /** Records a failure, which makes the run fail. */
    addBroken: (what: string): void => void broken.push(what),
    close: async (): Promise<void> => {
      await rig.stopAll()
      rig.close()
      if (!options.keep) rmSync(directory, { recursive: true, force: true })
    },
  }
}
export type Bench = ReturnType<typeof createBench>
