import { Command } from 'commander'
import type { MappedSource } from '../../imports/mapped-source.ts'
import type { RequestsSource } from '../../imports/read-requests.ts'
import { createJobPool } from '../../jobs/job-pool.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { loadSettings } from '../../lib/process/settings.ts'
import type { JobEnding } from '../../lib/worker/job.ts'
import { print } from '../output.ts'
import { planLines, toPlanView } from './plan-report.ts'
import { readSource } from './read-source.ts'

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
    const environments = await Promise.all(environment.map(readSource))
    const source = await mapRequests({ kind, bytes: await readSource(file), environments })
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
