import type { FieldError } from '../../lib/kernel/errors.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { DEFAULT_UPSTREAM_TIMEOUT_MS, MAX_UPSTREAM_CONFIG_BYTES } from '../limits.ts'
import type { RemoteConfig, StdioConfig, UpstreamConfig, UpstreamFeatures, UpstreamTransport } from '../upstream.ts'
import { type AuthWish, checkAuth, toAuth } from './auth-wish.ts'
import { compileConfig } from './resolve-config.ts'

/** What holds of a connection, as it is asked for: fields of all transports side by side. Left out: as it is by default. */
export type UpstreamWish = {
  transport: UpstreamTransport
  command?: string | undefined
  args?: readonly string[] | undefined
  env?: Readonly<Record<string, string>> | undefined
  cwd?: string | undefined
  url?: string | undefined
  urls?: readonly string[] | undefined
  headers?: Readonly<Record<string, string>> | undefined
  auth?: AuthWish | undefined
  eager?: boolean | undefined
  features?: Partial<Record<keyof UpstreamFeatures, boolean | undefined>> | undefined
  allow?: readonly string[] | undefined
  deny?: readonly string[] | undefined
  timeoutMs?: number | undefined
  prefix?: string | undefined
}

/** What is different, by field; `null` takes an optional one away. */
export type UpstreamWishChange = { [Name in keyof UpstreamWish]?: UpstreamWish[Name] | null | undefined }

const OF_STDIO = ['command', 'args', 'env', 'cwd'] as const
const OF_REMOTE = ['url', 'urls', 'headers'] as const

const WISH_FIELDS = [
  ...OF_STDIO,
  ...OF_REMOTE,
  'auth',
  'eager',
  'features',
  'allow',
  'deny',
  'timeoutMs',
  'prefix',
] as const

/** Fields that only upstreams of other transports have. */
const strangeTo = (transport: UpstreamTransport) => (transport === 'stdio' ? OF_REMOTE : OF_STDIO)

const checkFields = (wish: UpstreamWish): FieldError[] => {
  const kind = wish.transport === 'stdio' ? 'one of transport http or sse' : 'one of transport stdio'
  const strange = strangeTo(wish.transport)
    .filter(name => wish[name] !== undefined)
    .map(name => ({ path: name, message: `is a field of another upstream: ${kind}` }))
  const needed = wish.transport === 'stdio' ? 'command' : 'url'
  return wish[needed] === undefined
    ? [...strange, { path: needed, message: `is needed for the transport ${wish.transport}` }]
    : strange
}

/** An empty list is none: of patterns it would let nothing through, which switching the tools off says. */
const listOrNone = (list: readonly string[] | undefined): readonly string[] | undefined =>
  list === undefined || list.length === 0 ? undefined : list

const transportPart = (wish: UpstreamWish): StdioConfig | RemoteConfig =>
  wish.transport === 'stdio'
    ? {
        transport: wish.transport,
        command: wish.command ?? '',
        args: wish.args ?? [],
        env: wish.env ?? {},
        cwd: wish.cwd,
      }
    : { transport: wish.transport, url: wish.url ?? '', urls: listOrNone(wish.urls), headers: wish.headers ?? {} }

const toConfig = (wish: UpstreamWish): UpstreamConfig => ({
  ...transportPart(wish),
  timeoutMs: wish.timeoutMs ?? DEFAULT_UPSTREAM_TIMEOUT_MS,
  isEager: wish.eager ?? false,
  features: {
    tools: wish.features?.tools ?? true,
    resources: wish.features?.resources ?? true,
    prompts: wish.features?.prompts ?? true,
  },
  allow: listOrNone(wish.allow),
  deny: listOrNone(wish.deny),
  prefix: wish.prefix,
  auth: toAuth(wish.auth),
})

/** The configuration that is wished for, or every reason why it cannot be, beside its field. */
export const checkWish = (
  wish: UpstreamWish,
  { maxTimeoutMs }: { maxTimeoutMs: number },
): Result<UpstreamConfig, readonly FieldError[]> => {
  const errors = [...checkFields(wish), ...checkAuth(wish)]
  if (wish.timeoutMs !== undefined && wish.timeoutMs > maxTimeoutMs) {
    errors.push({ path: 'timeoutMs', message: `is more than ${maxTimeoutMs} (PATCHBAY_MAX_TOOL_TIMEOUT_MS)` })
  }
  const config = toConfig(wish)
  if (Buffer.byteLength(JSON.stringify(config)) > MAX_UPSTREAM_CONFIG_BYTES) {
    const path = wish.transport === 'stdio' ? 'command' : 'url'
    errors.push({ path, message: `and all that goes with it are more than ${MAX_UPSTREAM_CONFIG_BYTES} bytes` })
    return failure(errors)
  }
  if (errors.length > 0) return failure(errors)
  const compiled = compileConfig(config)
  return compiled.ok ? success(config) : compiled
}

/** A configuration as who wishes for the same would write it. */
const toWish = ({ isEager, ...config }: UpstreamConfig): UpstreamWish => ({ ...config, eager: isEager })

/** What a change says of the fields that a wish has; `null` becomes left out. */
const saidBy = (change: UpstreamWishChange): Partial<UpstreamWish> => {
  const said = WISH_FIELDS.filter(name => change[name] !== undefined)
  return Object.fromEntries(said.map(name => [name, change[name] ?? undefined]))
}

/**
 * What is wished for once a change is made. Another transport takes along nothing that only the one before had; of the
 * features those that the change does not name stay as they are.
 */
export const changeWish = (before: UpstreamConfig, change: UpstreamWishChange): UpstreamWish => {
  const transport = change.transport ?? before.transport
  const kept = toWish(before)
  for (const name of strangeTo(transport)) delete kept[name]
  if (transport === 'stdio') delete kept.auth
  const features = change.features === null ? undefined : { ...kept.features, ...change.features }
  return { ...kept, ...saidBy(change), transport, features }
}
