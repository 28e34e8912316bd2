import { Command } from 'commander'
import type { DescriptionDocument } from '../../imports/read/documents.ts'
import type { RequestsSource } from '../../imports/read-requests.ts'
import { print } from '../output.ts'
import { chooseOperations } from './choose-operations.ts'
import { importTools } from './import-tools.ts'
import { planLines, toPlanView } from './plan-report.ts'
import { readPlan } from './read-plan.ts'
import { readSource, STDIN } from './read-source.ts'
import { addSourceOptions, assertTarget, openSources, type SourceOptions } from './source-options.ts'

const planRequests = async (
  kind: RequestsSource['kind'],
  file: string,
  environment: readonly string[],
  options: SourceOptions,
): Promise<void> => {
  const documents: DescriptionDocument[] = []
  for (const source of [file, ...environment]) {
    documents.push({ name: source === STDIN ? 'standard input' : source, bytes: await readSource(source) })
  }
  const read = await readPlan({ kind, documents }, tool => tool)
  const { chosen: tools, leftOut } = chooseOperations(read.tools, options)
  const plan = { ...read, tools, leftOut }
  print(options, toPlanView(plan), planLines(plan))
}

const run =
  (kind: RequestsSource['kind']) =>
  async (file: string, { environment = [] }: { environment?: string[] }, command: Command): Promise<void> => {
    const options = command.optsWithGlobals<SourceOptions>()
    if (options.plan === true) return planRequests(kind, file, environment, options)
    assertTarget(command, options)
    return importTools({ kind, ...(await openSources([file, ...environment])) }, options)
  }

const createCommand = (kind: RequestsSource['kind'], description: string): Command =>
  addSourceOptions(
    new Command(kind).description(description).argument('<source>', 'a file, a URL, or - for standard input'),
  ).action(run(kind))

/** Returns the commands that read requests. None of the requests is sent, and no value of a secret is printed. */
export const importRequestsCommands = (): readonly Command[] => [
  createCommand('postman', 'import the requests of a Postman collection (2.0 or 2.1) as tools').option(
    '--environment <file...>',
    'environments of Postman, with the values of variables',
  ),
  createCommand('curl', 'import cURL commands as tools'),
  createCommand('har', 'import the requests in a HAR file as tools'),
]
