import type { FieldError } from '../../lib/kernel/errors.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { DEFAULT_UPSTREAM_TIMEOUT_MS, MAX_UPSTREAM_CONFIG_BYTES } from '../limits.ts'
import type { RemoteConfig, StdioConfig, UpstreamConfig, UpstreamTransport } from '../upstream.ts'
import type { UpstreamChange, UpstreamInput } from '../upstreams.schema.ts'
import { checkAuth, toAuth } from './auth-input.ts'
import { compileConfig } from './resolve-config.ts'

const STDIO_FIELDS = ['command', 'args', 'env', 'cwd'] as const
const REMOTE_FIELDS = ['url', 'urls', 'headers'] as const

const INPUT_FIELDS = [
  ...STDIO_FIELDS,
  ...REMOTE_FIELDS,
  'auth',
  'eager',
  'features',
  'allow',
  'deny',
  'timeoutMs',
  'prefix',
] as const

/** The requested connection settings, with the fields of all transports. Missing fields use their defaults. */
type UpstreamConfigInput = Pick<UpstreamInput, 'transport' | (typeof INPUT_FIELDS)[number]>

/** Changed fields. `null` resets an optional field. */
type UpstreamConfigChange = Pick<UpstreamChange, keyof UpstreamConfigInput>

/** Returns the fields that the transport does not support. */
const fieldsNotOf = (transport: UpstreamTransport) => (transport === 'stdio' ? REMOTE_FIELDS : STDIO_FIELDS)

const checkFields = (input: UpstreamConfigInput): FieldError[] => {
  const kind = input.transport === 'stdio' ? 'http and sse' : 'stdio'
  const notAllowed = fieldsNotOf(input.transport)
    .filter(name => input[name] !== undefined)
    .map(name => ({ path: name, message: `is only for the transport ${kind}` }))
  const required = input.transport === 'stdio' ? 'command' : 'url'
  return input[required] === undefined
    ? [...notAllowed, { path: required, message: `is required for the transport ${input.transport}` }]
    : notAllowed
}

/** An empty list means no list. Patterns that allow nothing are not needed: the tools feature can be off. */
const nonEmptyList = (list: string[] | undefined): string[] | undefined =>
  list === undefined || list.length === 0 ? undefined : list

const transportPart = (input: UpstreamConfigInput): StdioConfig | RemoteConfig =>
  input.transport === 'stdio'
    ? {
        transport: input.transport,
        command: input.command ?? '',
        args: input.args ?? [],
        env: input.env ?? {},
        cwd: input.cwd,
      }
    : { transport: input.transport, url: input.url ?? '', urls: nonEmptyList(input.urls), headers: input.headers ?? {} }

const toConfig = (input: UpstreamConfigInput): UpstreamConfig => ({
  ...transportPart(input),
  timeoutMs: input.timeoutMs ?? DEFAULT_UPSTREAM_TIMEOUT_MS,
  isEager: input.eager ?? false,
  features: {
    tools: input.features?.tools ?? true,
    resources: input.features?.resources ?? true,
    prompts: input.features?.prompts ?? true,
  },
  allow: nonEmptyList(input.allow),
  deny: nonEmptyList(input.deny),
  prefix: input.prefix,
  auth: toAuth(input.auth),
})

/** Returns the requested configuration, or all errors with their field paths. */
export const checkInput = (
  input: UpstreamConfigInput,
  { maxTimeoutMs }: { maxTimeoutMs: number },
): Result<UpstreamConfig, readonly FieldError[]> => {
  const errors = [...checkFields(input), ...checkAuth(input)]
  if (input.timeoutMs !== undefined && input.timeoutMs > maxTimeoutMs) {
    errors.push({ path: 'timeoutMs', message: `must be at most ${maxTimeoutMs} (PATCHBAY_MAX_TOOL_TIMEOUT_MS)` })
  }
  const config = toConfig(input)
  if (Buffer.byteLength(JSON.stringify(config)) > MAX_UPSTREAM_CONFIG_BYTES) {
    const path = input.transport === 'stdio' ? 'command' : 'url'
    errors.push({ path, message: `and its settings are larger than ${MAX_UPSTREAM_CONFIG_BYTES} bytes` })
    return failure(errors)
  }
  if (errors.length > 0) return failure(errors)
  const compiled = compileConfig(config)
  return compiled.ok ? success(config) : compiled
}

/** Returns the fields that the change sets, with `null` converted to undefined. */
const setFieldsOf = (change: UpstreamConfigChange): Partial<UpstreamConfigInput> => {
  const names = INPUT_FIELDS.filter(name => change[name] !== undefined)
  return Object.fromEntries(names.map(name => [name, change[name] ?? undefined]))
}

/** Applies a change. A new transport drops the old one's fields. Features stay unless the change names them. */
export const applyChange = (
  { isEager, ...before }: UpstreamConfig,
  change: UpstreamConfigChange,
): UpstreamConfigInput => {
  const transport = change.transport ?? before.transport
  const kept: UpstreamConfigInput = { ...before, eager: isEager }
  for (const name of fieldsNotOf(transport)) delete kept[name]
  if (transport === 'stdio') delete kept.auth
  const features = change.features === null ? undefined : { ...kept.features, ...change.features }
  return { ...kept, ...setFieldsOf(change), transport, features }
}
