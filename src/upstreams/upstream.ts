import { z } from 'zod'
import type { Credential } from '../lib/outbound/credentials.ts'
import { StoredResponse } from '../tools/response/response-rules.ts'

export const UPSTREAM_TRANSPORTS = ['stdio', 'http', 'sse'] as const
export type UpstreamTransport = (typeof UPSTREAM_TRANSPORTS)[number]

/** Whether clients can use each kind of item. A request for a disabled kind fails with an error that names the kind. */
const UpstreamFeatures = z.object({ tools: z.boolean(), resources: z.boolean(), prompts: z.boolean() })
export type UpstreamFeatures = z.infer<typeof UpstreamFeatures>

const texts = z.record(z.string(), z.string())

/** A command on this machine, run without a shell. Every string may contain `{{global}}`. */
const StdioConfig = z.object({
  transport: z.literal('stdio'),
  command: z.string(),
  args: z.array(z.string()),
  /** The complete environment of the process, except for what is needed to find the command. */
  env: texts,
  cwd: z.string().optional(),
})
export type StdioConfig = z.infer<typeof StdioConfig>

/**
 * A remote server that uses Streamable HTTP or the HTTP+SSE transport of 2024-11-05. The URL and header values may
 * contain `{{global}}`.
 */
const RemoteConfig = z.object({
  transport: z.enum(['http', 'sse']),
  url: z.string(),
  /** Additional URLs of the same upstream for load balancing. Used only by passthrough servers. */
  urls: z.array(z.string()).optional(),
  headers: texts,
})
export type RemoteConfig = z.infer<typeof RemoteConfig>

/** How to authorize at a remote upstream, in addition to sending headers. */
const UpstreamAuth = z.discriminatedUnion('type', [
  z.object({ type: z.literal('none') }),
  z.object({
    /** Uses an account connected at the upstream. The account's secrets are stored separately. */
    type: z.literal('oauth'),
    /** Whether all callers share one account or each caller uses their own. */
    per: z.enum(['server', 'caller']),
    /** ID of a manually registered client. By default, Patchbay registers itself. */
    clientId: z.string().optional(),
    /** Scopes to request. By default, the scopes that the upstream asks for. */
    scopes: z.array(z.string()).optional(),
  }),
])
export type UpstreamAuth = z.infer<typeof UpstreamAuth>

/** Settings that every transport has. */
const settings = {
  /** Per operation. */
  timeoutMs: z.number(),
  /** Whether to connect immediately instead of on the first call. */
  isEager: z.boolean(),
  features: UpstreamFeatures,
  /** Patterns for tool names, in which `*` matches any characters. If set, only matching tools are exposed. */
  allow: z.array(z.string()).optional(),
  /** Patterns for tools that are never exposed, even if `allow` matches. */
  deny: z.array(z.string()).optional(),
  /** Prefix for tool names. The default is the upstream's name. */
  prefix: z.string().optional(),
  auth: UpstreamAuth,
}

export const UpstreamConfig = z.discriminatedUnion('transport', [
  StdioConfig.extend(settings),
  RemoteConfig.extend(settings),
])
export type UpstreamConfig = z.infer<typeof UpstreamConfig>

type OAuth = Extract<UpstreamAuth, { type: 'oauth' }>

export const isOAuth = (auth: UpstreamAuth | undefined): auth is OAuth => auth?.type === 'oauth'

/** Returns whether each caller uses their own account. */
export const isPerCaller = ({ auth }: Pick<UpstreamConfig, 'auth'>): boolean =>
  auth.type === 'oauth' && auth.per === 'caller'

/** Returns the settings with which an upstream is connected. The others only decide what is listed. */
export const connectSettingsOf = <Config extends UpstreamConfig>({
  features: _features,
  allow: _allow,
  deny: _deny,
  prefix: _prefix,
  ...connecting
}: Config) => connecting

/** How the results of one upstream tool are shaped and cached. Our own tools have the same settings. */
export const ToolAnswers = z.object({
  response: StoredResponse.optional(),
  /**
   * How long results are cached, in seconds. Allowed only for tools that are declared read-only by the upstream or by
   * `readOnly`.
   */
  cacheSeconds: z.int().optional(),
  /** Whether all callers share the cached results. */
  cacheShared: z.boolean().optional(),
  /** Whether the builder declares the tool read-only. */
  readOnly: z.boolean().optional(),
})
export type ToolAnswers = z.infer<typeof ToolAnswers>

/** An existing MCP server attached to a Patchbay server. */
export type Upstream = {
  id: string
  serverId: string
  name: string
  description: string | undefined
  isEnabled: boolean
  /** Configuration as entered, with `{{global}}` references. */
  config: UpstreamConfig
  /** Maximum tokens in a result, by tool name. Replaces the server's limit; 0 means no limit. */
  responseTokens: Readonly<Record<string, number>>
  /** Settings for handling results, by tool name. */
  toolAnswers: Readonly<Record<string, ToolAnswers>>
  createdAt: Date
  updatedAt: Date
}

/**
 * The state of an upstream's connection. `why` may be shown to anyone who may see the upstream.
 * `ownWords` is the same message without text from the upstream.
 */
export type UpstreamState =
  | { kind: 'idle' | 'connecting' | 'connected' | 'disabled' }
  | { kind: 'failed'; why: string; ownWords?: string; since: Date; nextTryAt: Date | undefined }

/** Returns the state of an upstream that has no connection. */
export const restingState = ({ isEnabled }: Pick<Upstream, 'isEnabled'>): UpstreamState => ({
  kind: isEnabled ? 'idle' : 'disabled',
})

/** `UpstreamConfig` with every `{{global}}` replaced, for connections only. Never stored or shown. */
export type ResolvedConfig = UpstreamConfig & {
  /** The organization that the upstream is used for. Undefined if its server was just removed. */
  organizationId: string | undefined
  /** Secrets in this configuration. They are masked wherever text from the upstream is shown. */
  secrets: readonly string[]
  /** The same secrets by name, with the origins that they may be sent to. */
  credentials: readonly Credential[]
}
