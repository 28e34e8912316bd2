import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { relative, resolve, sep } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { Command } from 'commander'
import { MAX_DESCRIPTION_BYTES } from '../../imports/limits.ts'
import type { ImportPlan } from '../../imports/plan-import.ts'
import type { DescriptionDocument } from '../../imports/read/documents.ts'
import { createJobPool } from '../../jobs/job-pool.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { formatBytes } from '../../lib/kernel/format.ts'
import { loadSettings } from '../../lib/process/settings.ts'
import type { JobEnding } from '../../lib/worker/job.ts'
import { codeOf } from '../failure-lines.ts'
import { print } from '../output.ts'
import { planLines } from './openapi-report.ts'

const STDIN = '-'

/** Returns the size of a regular file, or undefined for anything else that can be read, such as a pipe. */
const sizeOf = async (path: string): Promise<number | undefined> => {
  try {
    const found = await stat(path)
    if (found.isDirectory()) throw new AppError('invalid_request', `${path} is a folder.`)
    return found.isFile() ? found.size : undefined
  } catch (error) {
    if (error instanceof AppError) throw error
    const reason =
      codeOf(error) === 'ENOENT' ? 'does not exist' : `cannot be read (${codeOf(error) ?? 'unknown error'})`
    throw new AppError('invalid_request', `The file ${path} ${reason}.`)
  }
}

/** Returns where the worker finds a file, or the bytes of anything else. */
const openSource = async (source: string): Promise<{ path: string } | { bytes: Uint8Array }> => {
  const size = source === STDIN ? undefined : await sizeOf(source)
  const opened =
    size === undefined
      ? { bytes: await buffer(source === STDIN ? process.stdin : createReadStream(source)) }
      : undefined
  if ((size ?? opened?.bytes.length ?? 0) > MAX_DESCRIPTION_BYTES) {
    throw new AppError('payload_too_large', `${source} has more than ${formatBytes(MAX_DESCRIPTION_BYTES)}.`)
  }
  return opened ?? { path: resolve(source) }
}

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

const plan = async (documents: readonly DescriptionDocument[]): Promise<ImportPlan> => {
  const pool = createJobPool({ memory: loadSettings().memory })
  try {
    const ended = await pool.job('plan-import').run('cli', { documents })
    if (!ended.ok) throw new AppError('unavailable', describeEnding(ended.error))
    if (!ended.value.ok) throw new AppError('invalid_request', ended.value.error)
    return ended.value.value
  } finally {
    await pool.close()
  }
}

const runOpenapi = async (sources: readonly string[], _options: unknown, command: Command): Promise<void> => {
  const { json, plan: isPlan } = command.optsWithGlobals<{ json?: boolean; plan?: boolean }>()
  if (isPlan !== true) command.error('error: give --plan: this version only shows what would be imported')
  const read = await plan(await openDocuments(sources))
  print({ json }, read, planLines(read))
}

export const importOpenapiCommand = (): Command =>
  new Command('openapi')
    .description('show the tools that an API description (OpenAPI 3.0 to 3.2, Swagger 2.0) would become')
    .argument('<file...>', 'the description as JSON or YAML, then files it refers to, or - for standard input')
    .option('--plan', 'print the tools and the operations that cannot be imported, without creating anything')
    .option('--json', 'print one JSON value')
    .action(runOpenapi)
