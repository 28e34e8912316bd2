import { z } from 'zod'
import { failure, isJsonObject, type JsonObject, type JsonValue, type Result, success } from '../kernel/index.ts'
import { type ConfigText, readConfigText, type TextReader } from './config-text.ts'
import type { ConfigTool } from './config-tools.ts'
import type { FoundPlace, FoundServer } from './found-server.ts'

export type EntryContext = Pick<TextReader, 'inputs' | 'known'> & { tool: ConfigTool }

const scalar = z.union([z.string(), z.number(), z.boolean()], 'is no text').transform(String)
const texts = z.array(scalar, 'is no list of texts')
const pairs = z.record(z.string(), z.union([scalar, z.null()], 'is no text'), 'is no object of texts')
const seconds = z.number('is no number').positive('is not above 0')

/** All that tools write of a server, side by side; what else they do is theirs. */
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
  args: texts.nullish(),
  env: pairs.nullish(),
  environment: pairs.nullish(),
  env_vars: z.array(z.union([z.string(), z.looseObject({ name: z.string() })])).optional(),
  cwd: z.string().nullish(),
  url: z.string().optional(),
  serverUrl: z.string().optional(),
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
  includeTools: texts.optional(),
  enabled_tools: texts.optional(),
  excludeTools: texts.optional(),
  disabledTools: texts.optional(),
  disabled_tools: texts.optional(),
})
type Entry = z.infer<typeof Entry>

/** Fields that change what a server does and have no counterpart here. */
const NOT_TAKEN: ReadonlyMap<string, string> = new Map([
  ['envFile', 'Its envFile is not read: add the variables that it needs.'],
  ['headersHelper', 'Its headersHelper is not run: add the header that it makes.'],
  ['oauth', 'Its OAuth settings are not taken along.'],
  ['auth', 'Its OAuth settings are not taken along.'],
  ['sandbox', 'It is not run in a sandbox.'],
])

/** Most that one operation may take, as long as the setting is as it was. */
const MAX_TIMEOUT_MS = 300_000
const MAX_DESCRIPTION_CHARS = 10_000

const variable = (name: string): ConfigText => [
  { kind: 'variable', name, source: 'environment', fallback: undefined, written: `\${${name}}` },
]

type Read = (text: string) => ConfigText

const readPairs = (given: Readonly<Record<string, string | null>> | null | undefined, read: Read) =>
  Object.entries(given ?? {}).flatMap(([name, value]) => (value === null ? [] : [[name, read(value)] as const]))

/** The command with its arguments: one text, a list, or an object of both. */
const commandOf = ({ command, args }: Entry): readonly string[] => {
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
  const named = (entry.env_vars ?? []).map(given => (typeof given === 'string' ? given : given.name))
  return success({
    transport: 'stdio',
    command: read(command),
    args: args.map(read),
    env: Object.fromEntries([
      ...named.map(name => [name, variable(name)] as const),
      ...readPairs(inCommand, read),
      ...readPairs(entry.environment, read),
      ...readPairs(entry.env, read),
    ]),
    cwd: entry.cwd ? read(entry.cwd) : undefined,
  })
}

const kindOf = (entry: Entry, url: string, tool: ConfigTool): 'http' | 'sse' => {
  if (entry.httpUrl !== undefined) return 'http'
  const said = entry.type ?? entry.transport
  if (said !== undefined) return /sse/i.test(said) ? 'sse' : 'http'
  return tool.untypedUrl === 'sse' || /\/sse\/?(?:[?#]|$)/.test(url) ? 'sse' : 'http'
}

const readRemote = (entry: Entry, url: string, read: Read, tool: ConfigTool): Result<FoundPlace, string> => {
  if (/^(?:unix|pipe|npipe):/.test(url)) return failure('is reached by a socket of this machine, which is not offered')
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
  const url = entry.httpUrl ?? entry.url ?? entry.serverUrl
  if (entry.command !== undefined) return readStdio(entry, read)
  if (url !== undefined) return readRemote(entry, url, read, tool)
  if (entry.source === 'extension' || entry.settings !== undefined) {
    return failure('comes with an extension, which alone knows its command')
  }
  return failure('has neither a command nor a URL')
}

/** All means no choice. */
const choiceOf = (...lists: (readonly string[] | undefined)[]): string[] | undefined => {
  const names = lists.flatMap(list => list ?? [])
  return names.length === 0 || names.includes('*') ? undefined : names
}

const timeoutOf = ({ timeout, tool_timeout_sec: inSeconds }: Entry, { timeoutUnitMs }: ConfigTool, notes: string[]) => {
  const wished = inSeconds === undefined ? timeout && timeout * timeoutUnitMs : inSeconds * 1_000
  if (wished === undefined || wished <= MAX_TIMEOUT_MS) return wished && Math.ceil(wished)
  notes.push(`Its timeout is ${MAX_TIMEOUT_MS} ms, the most there is, in place of ${Math.ceil(wished)} ms.`)
  return MAX_TIMEOUT_MS
}

const explain = (error: z.ZodError): string =>
  error.issues
    .slice(0, 3)
    .map(
      ({ path, message }) =>
        `has a field "${path.join('.')}" that ${/^is /.test(message) ? message : 'is of another type'}`,
    )
    .join(', and ')

const toJsonObject = (entry: JsonValue): JsonObject | undefined => (isJsonObject(entry) ? entry : undefined)

/** One server of a file; fails with what keeps it from being taken, which completes "it". */
export const readEntry = (
  name: string,
  given: JsonValue,
  { tool, inputs, known }: EntryContext,
): Result<FoundServer, string> => {
  const object = toJsonObject(given)
  if (object === undefined) return failure('is no object')
  const parsed = Entry.safeParse(object)
  if (!parsed.success) return failure(explain(parsed.error))
  const entry = parsed.data
  const notes: string[] = []
  const onUnknown = (written: string): void => {
    notes.push(
      `It holds ${written}, which only ${tool.title === 'file' ? 'the tool' : tool.title} can fill in: it stays as written.`,
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
    allow: choiceOf(entry.tools, entry.includeTools, entry.enabled_tools),
    deny: choiceOf(entry.excludeTools, entry.disabledTools, entry.disabled_tools),
    timeoutMs: timeoutOf(entry, tool, notes),
    notes: [...new Set(notes)],
  })
}
