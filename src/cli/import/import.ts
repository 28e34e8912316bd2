import { Command, InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { AppError } from '../../lib/kernel/errors.ts'
import { serverUrl } from '../../lib/kernel/server-url.ts'
import { loadSettings } from '../../lib/process/settings.ts'
import { draftUpstreams } from '../config-files/draft-upstreams.ts'
import type { FoundServer } from '../config-files/found-server.ts'
import { thisMachine } from '../machine.ts'
import { expectSuccess, listAll, type ManagementApi } from '../management-api.ts'
import { print, printable, printError } from '../output.ts'
import { importOpenapiCommand } from './import-openapi.ts'
import { askFeatures, askServer, askWhich, confirmImport, FEATURES, type Feature } from './import-questions.ts'
import { describePlace, type Found, foundLines, outcomeLines, toFoundView } from './import-report.ts'
import { importRequestsCommands } from './import-requests.ts'
import { importUpstreams, readTarget } from './import-run.ts'
import { type Candidate, listCandidates, readSources } from './import-sources.ts'
import { collectValues } from './import-values.ts'
import { openApi } from './open-api.ts'

type Options = {
  server?: string
  new?: string
  email?: string
  url?: string
  yes?: boolean
  only?: string[]
  features?: Feature[]
  fromEnvironment?: boolean
  json?: boolean
}

const toNames = (text: string): string[] => text.split(',').flatMap(part => part.trim() || [])

const toFeatures = (text: string): Feature[] => {
  const parsed = z.array(z.enum(FEATURES)).min(1).safeParse(toNames(text))
  if (!parsed.success) throw new InvalidArgumentError(`Give a comma-separated list of ${FEATURES.join(', ')}.`)
  return parsed.data
}

/** Returns whether there is a user who can be asked. */
const isInteractive = ({ yes, only, json }: Options): boolean =>
  yes !== true && only === undefined && json !== true && process.stdin.isTTY === true && process.stdout.isTTY === true

const isChosen = (candidate: Candidate, only: readonly string[]): boolean =>
  only.some(name => name === candidate.name || name === `${candidate.tool}/${candidate.name}`)

/** Returns the candidates with these names. Throws for an unknown name. */
const chooseByName = (candidates: readonly Candidate[], only: readonly string[]): Candidate[] => {
  const unknown = only.find(name => !candidates.some(candidate => isChosen(candidate, [name])))
  if (unknown !== undefined) throw new AppError('not_found', `No MCP server called "${unknown}" was found.`)
  return candidates.filter(candidate => isChosen(candidate, only))
}

/** Prints errors and makes the command fail if there are any. */
const printErrors = (lines: readonly string[]): void => {
  if (lines.length === 0) return
  process.exitCode = 1
  lines.forEach(printError)
}

const choose = async ({ drafts }: Found, options: Options): Promise<readonly Candidate[]> => {
  const candidates = drafts.map(({ found }) => found)
  if (options.only !== undefined) return chooseByName(candidates, options.only)
  if (options.yes === true) return candidates
  const choices = drafts.map(draft => {
    const { name, tool, isEnabled: isOn } = draft.found
    return { label: isOn ? name : `${name} (disabled)`, hint: `${tool}: ${describePlace(draft)}`, isOn }
  })
  const picked = new Set(await askWhich(choices))
  return candidates.filter((_, at) => picked.has(at))
}

/** Returns the server, set to pass on only the given features. */
const withFeatures = (server: FoundServer, features: readonly Feature[] = FEATURES): FoundServer => {
  if (features.length === FEATURES.length) return server
  const isOn = (feature: Feature): boolean => features.includes(feature)
  return { ...server, features: { tools: isOn('tools'), resources: isOn('resources'), prompts: isOn('prompts') } }
}

const ServerView = z.object({ id: z.string(), name: z.string(), url: z.string() })

const openServer = async (api: ManagementApi, options: Options) => {
  if (options.server !== undefined) {
    return expectSuccess(api, 'GET', `/servers/${encodeURIComponent(options.server)}`, ServerView)
  }
  const chosen =
    options.new !== undefined ? { name: options.new } : await askServer(await listAll(api, '/servers', ServerView))
  return 'id' in chosen
    ? expectSuccess(api, 'GET', `/servers/${chosen.id}`, ServerView)
    : expectSuccess(api, 'POST', '/servers', ServerView, { name: chosen.name })
}

const attach = async (found: Found, options: Options): Promise<void> => {
  const api = await openApi(options, isInteractive(options))
  try {
    const chosen = await choose(found, options)
    const asked = options.features ?? (isInteractive(options) ? await askFeatures() : undefined)
    const server = await openServer(api, options)
    const target = await readTarget(api, server.id)
    const servers = chosen.map(candidate => withFeatures(candidate, asked))
    const drafts = draftUpstreams(servers, target.keys)
    const values = await collectValues(drafts.globals, target.keys, {
      isInteractive: isInteractive(options),
      fromEnvironment: options.fromEnvironment === true,
    })
    const origin = options.url ?? loadSettings().baseUrl
    if (isInteractive(options)) await confirmImport(drafts.upstreams.length, server.name, origin)
    const outcome = await importUpstreams(api, target, { ...drafts, values })
    const url = server.url || serverUrl(loadSettings().baseUrl, server.id)
    print(options, { ...toFoundView(found), server: { ...server, url }, ...outcome }, outcomeLines(outcome, url))
    const skipped = outcome.skipped.length
    if (skipped > 0) printErrors([`${skipped} of ${chosen.length} MCP servers could not be imported.`])
  } finally {
    await api.close()
  }
}

const runImport = async (sources: readonly string[], options: Options, command: Command): Promise<void> => {
  const isAsked = isInteractive(options)
  const willImport = isAsked || options.yes === true || options.only !== undefined
  if (willImport && !isAsked && (options.server === undefined) === (options.new === undefined)) {
    command.error('error: give either --server <id> or --new <name>')
  }
  const read = await readSources(sources, thisMachine())
  const { upstreams: drafts } = draftUpstreams(listCandidates(read.files))
  const found: Found = { sources: read, drafts }
  printErrors(read.faults.map(({ why }) => why))
  if (drafts.length === 0 || !willImport) {
    const hint =
      drafts.length === 0 ? 'No MCP servers were found.' : 'Import all of them with --yes, or some with --only.'
    print(options, toFoundView(found), [...foundLines(found), hint])
    return
  }
  if (options.json !== true) process.stdout.write(`${foundLines(found).map(printable).join('\n')}\n\n`)
  await attach(found, options)
}

export const importCommand = (): Command => {
  const command = new Command('import')
    .argument('[source...]', 'tools by name or configuration files by path (default: all that are found)')
    .option('--server <id>', 'add them to this server')
    .option('--new <name>', 'create a private server with this name for them')
    .option('--yes', 'import all that are found')
    .option('--only <names>', 'import only these, comma-separated: a name or tool/name each', toNames)
    .option('--features <list>', 'pass on only these: a comma-separated list of tools, resources, prompts', toFeatures)
    .option('--from-environment', "use values from this command's environment and from the files that variables name")
    .option(
      '--url <origin>',
      'import into the Patchbay at this origin, with the token in PATCHBAY_TOKEN (default: PATCHBAY_BASE_URL)',
    )
    .option('--email <address>', 'import into this installation as this user, without a token')
    .option('--json', 'print one JSON value and do not ask questions')
    .action(runImport)
    .addCommand(importOpenapiCommand())
  for (const requests of importRequestsCommands()) command.addCommand(requests)
  return command
}
