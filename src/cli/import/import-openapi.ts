import { relative, resolve, sep } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import type { GivenSecurity } from '../../imports/openapi/security.ts'
import type { ImportPlan } from '../../imports/plan-import.ts'
import type { DescriptionDocument } from '../../imports/read/documents.ts'
import type { ReadOptions } from '../../imports/read-description.ts'
import { createJobPool } from '../../jobs/job-pool.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { loadSettings } from '../../lib/process/settings.ts'
import type { JobEnding } from '../../lib/worker/job.ts'
import { print } from '../output.ts'
import { planLines } from './openapi-report.ts'
import { isPlainFile, readSource, STDIN } from './read-source.ts'

/** Returns where the worker finds a file, or the bytes of anything else. */
const openSource = async (source: string): Promise<{ path: string } | { bytes: Uint8Array }> =>
  source !== STDIN && (await isPlainFile(source)) ? { path: resolve(source) } : { bytes: await readSource(source) }

/** Returns the folder that contains all paths. */
const commonFolder = (paths: readonly string[]): string => {
  const [first = '', ...others] = paths.map(path => resolve(path).split(sep).slice(0, -1).join(sep))
  const isAbove = (folder: string): boolean => others.every(other => `${other}${sep}`.startsWith(`${folder}${sep}`))
  let folder = first
  while (folder !== '' && !isAbove(folder)) folder = folder.slice(0, Math.max(0, folder.lastIndexOf(sep)))
  return folder === '' ? sep : folder
}

/** Returns the files under the names by which they refer to each other: their paths from a common folder. */
const openDocuments = async (sources: readonly string[]): Promise<readonly DescriptionDocument[]> => {
  const folder = commonFolder(sources.filter(source => source !== STDIN))
  const documents: DescriptionDocument[] = []
  for (const source of sources) {
    const name = source === STDIN ? 'standard input' : relative(folder, resolve(source))
    documents.push({ name, ...(await openSource(source)) })
  }
  return documents
}

const describeEnding = (ending: JobEnding): string => {
  if (ending === 'time') return 'The description takes too long to read.'
  if (ending === 'memory')
    return 'The description takes too much memory to read. Set PATCHBAY_MEMORY_MB to a higher value.'
  return 'The description could not be read.'
}

const plan = async (documents: readonly DescriptionDocument[], options: ReadOptions): Promise<ImportPlan> => {
  const pool = createJobPool({ memory: loadSettings().memory })
  try {
    const ended = await pool.job('plan-import').run('cli', { documents, options })
    if (!ended.ok) throw new AppError('unavailable', describeEnding(ended.error))
    if (!ended.value.ok) throw new AppError('invalid_request', ended.value.error)
    return ended.value.value
  } finally {
    await pool.close()
  }
}

type Options = { json?: boolean; plan?: boolean; auth?: GivenSecurity }

/** Reads `bearer`, `basic` or `header:NAME`. */
const toSecurity = (text: string): GivenSecurity => {
  const [, header] = /^header:([\w-]+)$/.exec(text) ?? []
  if (header !== undefined) return { header }
  if (text === 'bearer' || text === 'basic') return text
  throw new InvalidArgumentError('Give bearer, basic or header:NAME.')
}

const runOpenapi = async (sources: readonly string[], _options: unknown, command: Command): Promise<void> => {
  const { json, plan: isPlan, auth } = command.optsWithGlobals<Options>()
  if (isPlan !== true) command.error('error: give --plan: this version only shows what would be imported')
  const read = await plan(await openDocuments(sources), { security: auth })
  print({ json }, read, planLines(read))
}

export const importOpenapiCommand = (): Command =>
  new Command('openapi')
    .description('show the tools that an API description (OpenAPI 3.0 to 3.2, Swagger 2.0) would become')
    .argument('<file...>', 'the description as JSON or YAML, then files it refers to, or - for standard input')
    .option('--plan', 'print the tools and the operations that cannot be imported, without creating anything')
    .option(
      '--auth <how>',
      'how the API authenticates if the file does not say: bearer, basic, header:NAME',
      toSecurity,
    )
    .option('--json', 'print one JSON value')
    .action(runOpenapi)
