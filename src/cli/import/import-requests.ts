import { open } from 'node:fs/promises'
import { Command } from 'commander'
import { MAX_DESCRIPTION_BYTES } from '../../imports/limits.ts'
import type { MappedSource } from '../../imports/mapped-source.ts'
import type { RequestsSource } from '../../imports/read-requests.ts'
import { createJobPool } from '../../jobs/job-pool.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { formatBytes } from '../../lib/kernel/format.ts'
import { loadSettings } from '../../lib/process/settings.ts'
import type { JobEnding } from '../../lib/worker/job.ts'
import { codeOf } from '../failure-lines.ts'
import { print } from '../output.ts'
import { planLines, toPlanView } from './plan-report.ts'

const STDIN = '-'

const READ_FAULTS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'does not exist'],
  ['EACCES', 'is not readable by this user'],
])

/** Reads a stream up to the limit. Throws `payload_too_large` beyond it. */
const collect = async (stream: AsyncIterable<Buffer>, source: string): Promise<Uint8Array> => {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.length
    if (size > MAX_DESCRIPTION_BYTES) {
      throw new AppError('payload_too_large', `${source} has more than ${formatBytes(MAX_DESCRIPTION_BYTES)}.`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Reads a file, or standard input for `-`. */
const readBytes = async (source: string): Promise<Uint8Array> => {
  if (source === STDIN) return collect(process.stdin, 'The input')
  const file = await open(source).catch((error: unknown) => {
    const fault = READ_FAULTS.get(codeOf(error) ?? '')
    throw fault === undefined ? error : new AppError('invalid_request', `The file ${source} ${fault}.`)
  })
  try {
    if ((await file.stat()).isDirectory()) throw new AppError('invalid_request', `${source} is a folder, not a file.`)
    return await collect(file.createReadStream({ autoClose: false }), `The file ${source}`)
  } finally {
    await file.close()
  }
}

const ENDINGS: Partial<Record<JobEnding, string>> = {
  time: 'It takes too long to read. Import a part of it.',
  memory: 'It takes more memory to read than Patchbay may use. Import a part of it, or set PATCHBAY_MEMORY_MB to more.',
}

/** Maps the requests in a process with limits of its own. */
const mapRequests = async (source: RequestsSource): Promise<MappedSource> => {
  const pool = createJobPool({ memory: loadSettings().memory })
  try {
    const ended = await pool.job('read-requests').run('cli', source)
    if (!ended.ok) throw new AppError('unavailable', ENDINGS[ended.error] ?? 'It could not be read.')
    if (!ended.value.ok) throw new AppError('invalid_request', ended.value.error)
    return ended.value.value
  } finally {
    await pool.close()
  }
}

const run =
  (kind: RequestsSource['kind']) =>
  async (file: string, { environment = [] }: { environment?: string[] }, command: Command): Promise<void> => {
    const { json, plan } = command.optsWithGlobals<{ json?: boolean; plan?: boolean }>()
    if (plan !== true) command.error('error: give --plan: this version only shows the tools')
    const environments = await Promise.all(environment.map(readBytes))
    const source = await mapRequests({ kind, bytes: await readBytes(file), environments })
    print({ json }, toPlanView(source), planLines(source))
  }

const createCommand = (kind: RequestsSource['kind'], description: string): Command =>
  new Command(kind)
    .description(description)
    .argument('<file>', 'a file, or - for standard input')
    .option('--plan', 'print the tools and what cannot be imported, and create nothing')
    .option('--json', 'print one JSON value')
    .action(run(kind))

/** Returns the commands that read requests. Nothing is sent, and no value of a secret is printed. */
export const importRequestsCommands = (): readonly Command[] => [
  createCommand('postman', 'show the tools that a Postman collection (2.0 or 2.1) would become').option(
    '--environment <file...>',
    'environments of Postman, with the values of variables',
  ),
  createCommand('curl', 'show the tools that cURL commands would become'),
  createCommand('har', 'show the tools that the requests in a HAR file would become'),
]
