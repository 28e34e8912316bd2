/** The time and memory that importing API descriptions takes, with both databases. */
import type { Bench, Started } from '../bench.ts'
import { type Checkout, inTurn } from '../checkouts.ts'
import { generateDescription } from '../description.ts'
import { apply, createToolkit, type Preview, preview } from '../imports.ts'
import { type Patchbay, signUp, startPatchbay } from '../patchbay.ts'
import type { Usage } from '../process.ts'
import { show } from '../report.ts'
import { median, quantile } from '../statistics.ts'

const DATABASES = ['SQLite', 'PostgreSQL'] as const
type DatabaseName = (typeof DATABASES)[number]

/** Numbers of operations. A toolkit can have 2,000 tools. */
const SIZES = { few: 1_000, again: 1_990, many: 10_000 }
const QUICK_SIZES = { few: 50, again: 50, many: 200 }
const MAX_FIRST_ROWS_MS = 2_000
const MAX_FEW_MS = 5_000
const MAX_MANY_MS = 15_000
const MAX_APPLY_MS = 5_000
const MAX_JOB_MB = 300
const MEGABYTE = 1_000_000
/** Times are judged only if other processes use less of the cores. */
const QUIET_PERCENT = 10

type Sample = { value: number; cpuMs: number; foreignPercent: number }
type Series = { title: string; unit: 'ms' | 'MB'; atMost: number | undefined; samples: Sample[] }

const createSeries = ({ few, again, many }: typeof SIZES, database: DatabaseName) => {
  const ms = (title: string, atMost?: number): Series => ({
    title: `${title}, ${database}`,
    unit: 'ms',
    atMost,
    samples: [],
  })
  const ofPreview = (operations: string, atMost?: number) => ({
    firstRows: ms(`${operations}, first rows`, MAX_FIRST_ROWS_MS),
    ready: ms(`${operations}, ready`, atMost),
    memory: {
      ...ms(`${operations}, peak memory of the job`, MAX_JOB_MB),
      unit: 'MB',
    } satisfies Series,
  })
  return {
    few: ofPreview(`${few} operations`, MAX_FEW_MS),
    cold: ms(`${few} tools saved, first time in a process`, MAX_APPLY_MS),
    warm: ms(`${few} tools saved, second time`, MAX_APPLY_MS),
    changed: ofPreview(`${again} changed operations`),
    again: ms(`${again} changed tools saved`),
    many: ofPreview(`${many} operations`, MAX_MANY_MS),
  }
}
type AllSeries = ReturnType<typeof createSeries>

type Descriptions = Record<'few' | 'again' | 'changed' | 'many', Parameters<typeof preview>[3]>

const generate = ({ few, again, many }: typeof SIZES): Descriptions => {
  const describe = (operations: number, revision = 0) => ({
    bytes: generateDescription(operations, revision),
    operations,
  })
  return { few: describe(few), again: describe(again), changed: describe(again, 1), many: describe(many) }
}

const toSample = (value: number, { serverMs, foreignMs, elapsedMs }: Usage): Sample => ({
  value,
  cpuMs: serverMs,
  foreignPercent: (foreignMs * 100) / elapsedMs,
})

/** Does everything once in a new process with a new database. */
const measure = async (bench: Bench, patchbay: Patchbay, descriptions: Descriptions, series: AllSeries) => {
  const { child, port } = patchbay
  const send = await signUp(port)
  const read = async (key: keyof Descriptions, toolkitId: string, into?: AllSeries['few']): Promise<Preview> => {
    const readMeter = bench.rig.meter(child)
    const made = await preview(patchbay, send, toolkitId, descriptions[key])
    const usage = readMeter()
    into?.firstRows.samples.push(toSample(made.firstRowsMs, usage))
    into?.ready.samples.push(toSample(made.readyMs, usage))
    into?.memory.samples.push(toSample(made.jobBytes / MEGABYTE, usage))
    return made
  }
  const save = async (made: Preview, count: number, into?: Series, serverId?: string): Promise<string> => {
    const readMeter = bench.rig.meter(child)
    const applied = await apply(send, made, count, serverId)
    into?.samples.push(toSample(applied.ms, readMeter()))
    return applied.serverId
  }

  const { few, again } = descriptions
  const steps = {
    'new tools': async () => {
      await save(await read('few', await createToolkit(send), series.few), few.operations, series.cold)
      await save(await read('few', await createToolkit(send)), few.operations, series.warm)
    },
    'changed tools': async () => {
      const toolkitId = await createToolkit(send)
      const serverId = await save(await read('again', toolkitId), again.operations)
      await save(await read('changed', toolkitId, series.changed), again.operations, series.again, serverId)
    },
    'a large description': async () => {
      await read('many', await createToolkit(send), series.many)
    },
  }
  for (const [title, step] of Object.entries(steps)) {
    // The other figures do not depend on the one that is missing.
    await step().catch(error => bench.addBroken(`imports, ${title}: ${error instanceof Error ? error.message : error}`))
  }
}

/** Returns the half of the samples during which other processes used the cores the least. */
const quietOf = (samples: readonly Sample[]): Sample[] =>
  samples.toSorted((a, b) => a.foreignPercent - b.foreignPercent).slice(0, Math.ceil(samples.length / 2))

const seriesOf = ({ few, cold, warm, changed, again, many }: AllSeries): Series[] =>
  [few, cold, warm, changed, again, many].flatMap(one => ('samples' in one ? [one] : Object.values(one)))

const report = (bench: Bench, checkout: Checkout, all: readonly Series[]): void => {
  const rows = all.map(({ samples, ...series }) => {
    const values = samples.map(({ value }) => value)
    const of = (key: keyof Sample): number => median(quietOf(samples).map(sample => sample[key]))
    const [lowest, highest] = [quantile(values, 0), quantile(values, 1)]
    return { ...series, lowest, highest, value: of('value'), cpuMs: of('cpuMs'), foreignPercent: of('foreignPercent') }
  })
  bench.addTable({
    title: `Imports into ${checkout.name} checkout: medians, and the range of all rounds`,
    columns: ['', 'median', 'lowest', 'highest', '', 'CPU of Patchbay, ms', 'foreign CPU %'],
    rows: rows.map(({ title, value, lowest, highest, unit, cpuMs, foreignPercent }) => [
      title,
      ...[value, lowest, highest].map(show),
      ...[unit, show(cpuMs), foreignPercent.toFixed(0)],
    ]),
  })
  if (checkout !== bench.own) return
  for (const { title, unit, atMost, value, foreignPercent } of rows) {
    const isUnsure = unit === 'ms' && foreignPercent > QUIET_PERCENT
    bench.addFigure({
      title,
      ...(atMost !== undefined && { required: { atMost } }),
      measured: value,
      unit,
      ...(isUnsure && { note: `unsure: other processes used ${foreignPercent.toFixed(0)} % of a core` }),
    })
  }
}

const createDatabase = async ({ url }: Started): Promise<string> => (await fetch(url)).text()

export const runImports = async (bench: Bench): Promise<void> => {
  const { quick } = bench.options
  const sizes = quick ? QUICK_SIZES : SIZES
  // A round takes minutes.
  const rounds = Math.ceil(bench.options.rounds / 2)
  const descriptions = generate(sizes)
  const postgres = await bench.startOwn('postgres', 'both')
  const all = bench.checkouts.map(checkout => ({
    checkout,
    SQLite: createSeries(sizes, 'SQLite'),
    PostgreSQL: createSeries(sizes, 'PostgreSQL'),
  }))
  for (let round = 1; round <= rounds; round++) {
    for (const database of DATABASES) {
      for (const { checkout, ...series } of inTurn(all, round)) {
        bench.log(`imports, round ${round} of ${rounds}: ${database}, ${checkout.name} checkout`)
        const settings = database === 'SQLite' ? {} : { DATABASE_URL: await createDatabase(postgres) }
        const patchbay = await startPatchbay(bench, checkout, bench.createDirectory('imports'), settings, 'both')
        await measure(bench, patchbay, descriptions, series[database])
        await patchbay.child.stop()
      }
    }
  }
  const results = all.map(one => DATABASES.flatMap(database => seriesOf(one[database])))
  for (const [index, { checkout }] of all.entries()) report(bench, checkout, results[index] ?? [])
  for (const [index, { title, unit }] of results[0]?.entries() ?? []) {
    const valuesOf = (series: readonly Series[]) => (series[index]?.samples ?? []).map(({ value }) => value)
    bench.compareValues(title, unit, results.map(valuesOf))
  }
}
