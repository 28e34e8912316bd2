import { relative, resolve, sep } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { toGivenSecurity } from '../../imports/openapi/security.ts'
import type { DescriptionDocument } from '../../imports/read/documents.ts'
import { print } from '../output.ts'
import { chooseOperations } from './choose-operations.ts'
import { importTools } from './import-tools.ts'
import { planLines, toPlannedTool, toPlanView } from './openapi-report.ts'
import { readPlan } from './read-plan.ts'
import { isPlainFile, isUrl, readSource, STDIN } from './read-source.ts'
import { addSourceOptions, assertTarget, openSources, type SourceOptions } from './source-options.ts'

/** Returns where the worker finds a file, or the bytes of anything else. */
const openSource = async (source: string): Promise<{ path: string } | { bytes: Uint8Array }> =>
  source !== STDIN && !isUrl(source) && (await isPlainFile(source))
    ? { path: resolve(source) }
    : { bytes: await readSource(source) }

/** Returns the folder that contains all paths. */
const commonFolder = (paths: readonly string[]): string => {
  const [first = '', ...others] = paths.map(path => resolve(path).split(sep).slice(0, -1).join(sep))
  const isAbove = (folder: string): boolean => others.every(other => `${other}${sep}`.startsWith(`${folder}${sep}`))
  let folder = first
  while (folder !== '' && !isAbove(folder)) folder = folder.slice(0, Math.max(0, folder.lastIndexOf(sep)))
  return folder === '' ? sep : folder
}

/** Returns the names by which documents refer to each other: URLs, and the paths of files from a common folder. */
const nameDocuments = (sources: readonly string[]): ((source: string) => string) => {
  const folder = commonFolder(sources.filter(source => source !== STDIN && !isUrl(source)))
  return source => (source === STDIN ? 'standard input' : isUrl(source) ? source : relative(folder, resolve(source)))
}

const openDocuments = async (sources: readonly string[]): Promise<readonly DescriptionDocument[]> => {
  const nameOf = nameDocuments(sources)
  const documents: DescriptionDocument[] = []
  for (const source of sources) documents.push({ name: nameOf(source), ...(await openSource(source)) })
  return documents
}

const toAuth = (text: string): string => {
  if (toGivenSecurity(text) !== undefined) return text
  throw new InvalidArgumentError('Give bearer, basic or header:NAME.')
}

const runOpenapi = async (sources: readonly string[], _options: unknown, command: Command): Promise<void> => {
  const options = command.optsWithGlobals<SourceOptions>()
  if (options.plan !== true) {
    assertTarget(command, options)
    await importTools({ kind: 'openapi', ...(await openSources(sources, nameDocuments(sources))) }, options)
    return
  }
  const security = toGivenSecurity(options.auth ?? '')
  const source = { kind: 'openapi' as const, documents: await openDocuments(sources), options: { security } }
  const read = await readPlan(source, toPlannedTool)
  const { chosen: tools, leftOut } = chooseOperations(read.tools, options)
  const plan = { ...read, tools, leftOut }
  print(options, toPlanView(plan), planLines(plan))
}

export const importOpenapiCommand = (): Command =>
  addSourceOptions(
    new Command('openapi')
      .description('import the operations of an API description (OpenAPI 3.0 to 3.2, Swagger 2.0) as tools')
      .argument('<source...>', 'the description as JSON or YAML: a URL, or a file and files it refers to, or -')
      .option('--auth <how>', 'how the API authenticates if the file does not say: bearer, basic, header:NAME', toAuth),
  ).action(runOpenapi)
