import { basename } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { MAX_DESCRIPTION_BYTES } from '../../imports/limits.ts'
import { unpackText } from '../../imports/read/unpack-text.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { FileForm } from '../management-api.ts'
import { isUrl, readSource } from './read-source.ts'

/** The value of a secret is in a variable of the environment: a command line is seen by others, and is kept. */
export type SecretFrom = { key: string; variable: string }

/** Options of the commands that import an API. Those of `patchbay import` are among them. */
export type SourceOptions = {
  toolkit?: string
  newToolkit?: string
  server?: string
  newServer?: string
  operation?: string[]
  tag?: string[]
  all?: boolean
  baseUrl?: string
  secretFrom?: SecretFrom[]
  plan?: boolean
  yes?: boolean
  json?: boolean
  url?: string
  email?: string
  auth?: string
}

const addTo = (text: string, before: string[] = []): string[] => [...before, text]

const toSecretFrom = (text: string, before: SecretFrom[] = []): SecretFrom[] => {
  const [, key, variable] = /^([\w.-]+)=([A-Za-z_]\w*)$/.exec(text) ?? []
  if (key === undefined || variable === undefined) throw new InvalidArgumentError('Give KEY=VARIABLE.')
  return [...before, { key, variable }]
}

/** Adds the options of all commands that import an API. */
export const addSourceOptions = (command: Command): Command =>
  command
    .option('--plan', 'print the tools and what cannot be imported, and create nothing')
    .option('--toolkit <id>', 'create the tools in this toolkit')
    .option('--new-toolkit <name>', 'create a private toolkit with this name for them')
    .option('--server <uuid>', 'add the tools to this server')
    .option('--new-server <name>', 'create a private server with this name for them')
    .option('--operation <which>', 'only this operation: its operationId, or "GET /path" (repeatable)', addTo)
    .option('--tag <name>', 'only operations with this tag (repeatable)', addTo)
    .option('--all', 'all operations, also deprecated ones, and even if there are more than 200')
    .option('--base-url <url>', 'the base URL of the API, if the source does not say it or another one is meant')
    .option('--secret-from <key=variable>', 'take a secret from this environment variable (repeatable)', toSecretFrom)
    .option('--yes', 'do not ask whether to import')
    .option('--url <origin>', 'import into the Patchbay at this origin, with the token in PATCHBAY_TOKEN')
    .option('--email <address>', 'import into this installation as this user, without a token')
    .option('--json', 'print one JSON value and do not ask questions')

type Operation = { key: string; operationId?: string | null | undefined; tags: readonly string[] }

/** Returns whether the options select an operation. Without any, all are. */
export const isWanted = (
  { operation = [], tag = [] }: Pick<SourceOptions, 'operation' | 'tag'>,
  { key, operationId, tags }: Operation,
): boolean =>
  (operation.length === 0 && tag.length === 0) ||
  operation.some(wanted => wanted === key || wanted === operationId) ||
  tag.some(wanted => tags.includes(wanted))

/** Ends the command unless it says where to import to. */
export const assertTarget = (
  command: Command,
  { toolkit, newToolkit, server, newServer, ...rest }: SourceOptions,
): void => {
  if ((toolkit === undefined) === (newToolkit === undefined)) {
    command.error('error: give either --toolkit <id> or --new-toolkit <name>, or --plan')
  }
  if (server !== undefined && newServer !== undefined) {
    command.error('error: give either --server <uuid> or --new-server <name>')
  }
  if (rest.yes !== true && (rest.json === true || process.stdin.isTTY !== true || process.stdout.isTTY !== true)) {
    command.error('error: give --yes to import without being asked, or --plan')
  }
}

const readText = async (source: string): Promise<string> => {
  const text = unpackText(await readSource(source), MAX_DESCRIPTION_BYTES)
  if (text.ok) return text.value
  throw new AppError('invalid_request', text.error)
}

/** Returns a URL for Patchbay to fetch, or else the files as text. `nameOf` returns the name of a file. */
export const openSources = async (
  sources: readonly string[],
  nameOf: (source: string) => string = source => basename(source),
): Promise<{ url: string } | { files: FileForm['files'] }> => {
  const [first = ''] = sources
  if (sources.length === 1 && isUrl(first)) return { url: first }
  const files: { name: string; text: string }[] = []
  for (const source of sources) files.push({ name: nameOf(source), text: await readText(source) })
  return { files }
}
