import { z } from 'zod'
import { isJsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { type ConfigText, environmentVariable, readConfigText, type TextReader } from './config-text.ts'
import type { ConfigTool } from './config-tools.ts'
import type { FoundPlace, FoundServer } from './found-server.ts'

export type EntryContext = Pick<TextReader, 'inputs' | 'known'> & { tool: ConfigTool }

const scalar = z.union([z.string(), z.number(), z.boolean()], 'is not a text').transform(String)
const texts = z.array(scalar, 'is not a list of texts')
const pairs = z.record(z.string(), z.union([scalar, z.null()], 'is not a text'), 'is not an object of texts')
const seconds = z.number('is not a number').positive('is not greater than 0')

/** The fields that any tool uses for a server. Other fields are ignored. */
const Entry = z.looseObject({
  type: z.string().optional(),
  transport: z.string().optional(),
  source: z.string().optional(),
  command: z
    .union([
      z.string(),
      texts.min(1),
      z.looseObject({ path: z.string(), args: texts.optional(), env: pairs.optional() }),
    ])
    .optional(),
  cmd: z.string().optional(),
  args: texts.nullish(),
  env: pairs.nullish(),
  envs: pairs.nullish(),
  env_keys: z.array(z.string()).nullish(),
  environment: pairs.nullish(),
  env_vars: z.array(z.union([z.string(), z.looseObject({ name: z.string() })])).optional(),
  cwd: z.string().nullish(),
  url: z.string().optional(),
  serverUrl: z.string().optional(),
  uri: z.string().optional(),
  httpUrl: z.string().optional(),
  headers: pairs.nullish(),
  http_headers: pairs.optional(),
  env_http_headers: z.record(z.string(), z.string()).optional(),
  bearer_token_env_var: z.string().optional(),
  disabled: z.boolean().optional(),
  enabled: z.boolean().optional(),
  description: z.string().optional(),
  timeout: seconds.optional(),
  tool_timeout_sec: seconds.optional(),
  tools: texts.optional(),
  available_tools: texts.nullish(),
  includeTools: texts.optional(),
  enabled_tools: texts.optional(),
  excludeTools: texts.optional(),
  disabledTools: texts.optional(),
  disabled_tools: texts.optional(),
})
type Entry = z.infer<typeof Entry>

/** Fields that change what a server does and have no counterpart in Patchbay. */
const NOT_TAKEN: ReadonlyMap<string, string> = new Map([
  ['envFile', 'Its envFile is not read: add the variables from it yourself.'],
  ['headersHelper', 'Its headersHelper is not run: add the headers yourself.'],
  ['oauth', 'Its OAuth settings are not imported.'],
  ['auth', 'Its OAuth settings are not imported.'],
  ['sandbox', 'It does not run in a sandbox.'],
])

/** Maximum timeout of one operation under the default settings. */
const MAX_TIMEOUT_MS = 300_000
const MAX_DESCRIPTION_CHARS = 10_000

const variable = (name: string): ConfigText => [environmentVariable(name, `\${${name}}`)]

type Read = (text: string) => ConfigText

const readPairs = (given: Readonly<Record<string, string | null>> | null | undefined, read: Read) =>
  Object.entries(given ?? {}).flatMap(([name, value]) => (value === null ? [] : [[name, read(value)] as const]))

/** Returns the command and its arguments, which may be written as a string, a list, or an object with both. */
const commandOf = ({ command: given, cmd, args }: Entry): readonly string[] => {
  const command = given ?? cmd
  if (command === undefined) return []
  if (typeof command === 'string') return [command, ...(args ?? [])]
  return Array.isArray(command)
    ? [...command, ...(args ?? [])]
    : [command.path, ...(command.args ?? []), ...(args ?? [])]
}

const readStdio = (entry: Entry, read: Read): Result<FoundPlace, string> => {
  const [command, ...args] = commandOf(entry)
  if (command === undefined || command.trim() === '') return failure('has no command')
  const inCommand = isJsonObject(entry.command) ? pairs.safeParse(entry.command.env).data : undefined
  const listed = (entry.env_vars ?? []).map(given => (typeof given === 'string' ? given : given.name))
  const named = [...listed, ...(entry.env_keys ?? [])]
  return success({
    transport: 'stdio',
    command: read(command),
    args: args.map(read),
    env: Object.fromEntries([
      ...named.map(name => [name, variable(name)] as const),
      ...readPairs(inCommand, read),
      ...readPairs(entry.environment, read),
      ...readPairs(entry.envs, read),
      ...readPairs(entry.env, read),
    ]),
    cwd: entry.cwd ? read(entry.cwd) : undefined,
  })
}

const kindOf = (entry: Entry, url: string, tool: ConfigTool): 'http' | 'sse' => {
  if (entry.httpUrl !== undefined) return 'http'
  const declared = entry.type ?? entry.transport
  if (declared !== undefined) return /sse/i.test(declared) ? 'sse' : 'http'
  return tool.untypedUrl === 'sse' || /\/sse\/?(?:[?#]|$)/.test(url) ? 'sse' : 'http'
}

const readRemote = (entry: Entry, url: string, read: Read, tool: ConfigTool): Result<FoundPlace, string> => {
  if (/^(?:unix|pipe|npipe):/.test(url)) return failure('uses a local socket, which is not supported')
  const bearer = entry.bearer_token_env_var
  return success({
    transport: kindOf(entry, url, tool),
    url: read(url),
    headers: Object.fromEntries([
      ...readPairs(entry.headers, read),
      ...readPairs(entry.http_headers, read),
      ...Object.entries(entry.env_http_headers ?? {}).map(([name, from]) => [name, variable(from)] as const),
      ...(bearer === undefined
        ? []
        : [['Authorization', [{ kind: 'text', text: 'Bearer ' }, ...variable(bearer)]] as const]),
    ]),
  })
}

const placeOf = (entry: Entry, read: Read, tool: ConfigTool): Result<FoundPlace, string> => {
  const url = entry.httpUrl ?? entry.url ?? entry.serverUrl ?? entry.uri
  if ((entry.command ?? entry.cmd) !== undefined) return readStdio(entry, read)
  if (url !== undefined) return readRemote(entry, url, read, tool)
  if (entry.source === 'extension' || entry.settings !== undefined) {
    return failure('is provided by an editor extension, and only the extension knows its command')
  }
  return failure('has neither a command nor a URL')
}

/** Merges lists of names. Returns undefined if nothing is selected, or if `*` selects all. */
const choiceOf = (...lists: (readonly string[] | null | undefined)[]): string[] | undefined => {
  const names = lists.flatMap(list => list ?? [])
  return names.length === 0 || names.includes('*') ? undefined : names
}

const timeoutOf = ({ timeout, tool_timeout_sec: inSeconds }: Entry, { timeoutUnitMs }: ConfigTool, notes: string[]) => {
  const requested = inSeconds === undefined ? timeout && timeout * timeoutUnitMs : inSeconds * 1_000
  if (requested === undefined || requested <= MAX_TIMEOUT_MS) return requested && Math.ceil(requested)
  notes.push(`Its timeout is limited to ${MAX_TIMEOUT_MS} ms instead of ${Math.ceil(requested)} ms.`)
  return MAX_TIMEOUT_MS
}

const explain = (error: z.ZodError): string =>
  error.issues
    .slice(0, 3)
    .map(
      ({ path, message }) =>
        `has a field "${path.join('.')}" that ${/^is /.test(message) ? message : 'has the wrong type'}`,
    )
    .join(', and ')

/** Reads one server from a file. The error says why the server cannot be imported and completes "It …". */
export const readEntry = (
  name: string,
  given: JsonValue,
  { tool, inputs, known }: EntryContext,
): Result<FoundServer, string> => {
  if (!isJsonObject(given)) return failure('is not an object')
  const parsed = Entry.safeParse(given)
  if (!parsed.success) return failure(explain(parsed.error))
  const entry = parsed.data
  const notes: string[] = []
  const onUnknown = (written: string): void => {
    notes.push(
      `It contains ${written}, which only ${tool.title === 'file' ? 'the tool' : tool.title} can fill in: it is kept as written.`,
    )
  }
  const read: Read = text => readConfigText(text, { syntax: tool.variables, known, inputs, onUnknown })
  const place = placeOf(entry, read, tool)
  if (!place.ok) return place
  for (const [field, note] of NOT_TAKEN) {
    if (entry[field] !== undefined && entry[field] !== false && !notes.includes(note)) notes.push(note)
  }
  return success({
    name,
    isEnabled: entry.disabled !== true && entry.enabled !== false,
    place: place.value,
    description: entry.description?.slice(0, MAX_DESCRIPTION_CHARS),
    allow: choiceOf(entry.tools, entry.available_tools, entry.includeTools, entry.enabled_tools),
    deny: choiceOf(entry.excludeTools, entry.disabledTools, entry.disabled_tools),
    timeoutMs: timeoutOf(entry, tool, notes),
    notes: [...new Set(notes)],
  })
}
