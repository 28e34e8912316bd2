import type { ResultShaping } from '../tools/response/result-shaping.ts'

export const UPSTREAM_TRANSPORTS = ['stdio', 'http', 'sse'] as const
export type UpstreamTransport = (typeof UPSTREAM_TRANSPORTS)[number]

/** Which kinds of items are passed on. A request for a kind that is off gets an error that names it. */
export type UpstreamFeatures = { tools: boolean; resources: boolean; prompts: boolean }

/** A command on this machine, run without a shell. Every text may contain `{{global}}`. */
export type StdioConfig = {
  transport: 'stdio'
  command: string
  args: readonly string[]
  /** The process's whole environment, apart from what is needed to find the command. */
  env: Readonly<Record<string, string>>
  cwd?: string | undefined
}

/**
 * A remote server: Streamable HTTP, or the HTTP+SSE transport of 2024-11-05. URL and header values may contain
 * `{{global}}`.
 */
export type RemoteConfig = {
  transport: 'http' | 'sse'
  url: string
  /** Further URLs of the same server, for load balancing on a passthrough server. Other servers use only the first. */
  urls?: readonly string[] | undefined
  headers: Readonly<Record<string, string>>
}

/** Authorization at a remote upstream, in addition to headers. */
export type UpstreamAuth =
  | { type: 'none' }
  | {
      /** An account connected there. Its secrets are stored separately. */
      type: 'oauth'
      /** One account for all callers, or each caller's own. */
      per: 'server' | 'caller'
      /** A client registered by hand; by default Patchbay registers itself. */
      clientId?: string | undefined
      /** The scopes to request; by default those that the upstream asks for. */
      scopes?: readonly string[] | undefined
    }

/** Settings for every transport. */
export type UpstreamSettings = {
  /** Per operation. */
  timeoutMs: number
  /** Whether to connect at once instead of with the first call. */
  isEager: boolean
  features: UpstreamFeatures
  /** Patterns of tool names, `*` for any characters. If present, only matching tools are passed on. */
  allow?: readonly string[] | undefined
  /** Patterns of tools that are never passed on, even if `allow` matches. */
  deny?: readonly string[] | undefined
  /** Prefix of its tools' names; by default the upstream's name. */
  prefix?: string | undefined
  auth: UpstreamAuth
}

type OAuth = Extract<UpstreamAuth, { type: 'oauth' }>

export const isOAuth = (auth: UpstreamAuth | undefined): auth is OAuth => auth?.type === 'oauth'

/** Whether each caller uses their own account. */
export const isPerCaller = ({ auth }: Pick<UpstreamSettings, 'auth'>): boolean =>
  auth.type === 'oauth' && auth.per === 'caller'

export type UpstreamConfig = (StdioConfig | RemoteConfig) & UpstreamSettings

/** How the results of one of its tools are shaped and cached, as for tools of ours. */
export type ToolAnswers = {
  response?: ResultShaping | undefined
  /**
   * How long a result is cached, in seconds. Only for read-only tools, as declared by the upstream or by `readOnly`.
   */
  cacheSeconds?: number | undefined
  /** Whether all callers share the cache. */
  cacheShared?: boolean | undefined
  /** The builder states that the tool changes nothing. */
  readOnly?: boolean | undefined
}

/** An existing MCP server attached to one of our servers. */
export type Upstream = {
  id: string
  serverId: string
  name: string
  description: string | undefined
  isEnabled: boolean
  /** As entered, with `{{global}}` references. */
  config: UpstreamConfig
  /** Most tokens of a result, by tool name, instead of the server's limit; 0 means no limit. */
  responseTokens: Readonly<Record<string, number>>
  /** Settings for results, by tool name. */
  toolAnswers: Readonly<Record<string, ToolAnswers>>
  createdAt: Date
  updatedAt: Date
}

/**
 * The state of its connection. `why` may be shown to anybody who may see the upstream; `ownWords` has no text from the
 * upstream.
 */
export type UpstreamState =
  | { kind: 'idle' | 'connecting' | 'connected' }
  | { kind: 'disabled' }
  | { kind: 'failed'; why: string; ownWords?: string; since: Date; nextTryAt: Date | undefined }

/** The state of an upstream without a connection. */
export const restingState = ({ isEnabled }: Pick<Upstream, 'isEnabled'>): UpstreamState => ({
  kind: isEnabled ? 'idle' : 'disabled',
})

/** `UpstreamConfig` with every `{{global}}` replaced, for connections only. Never stored or shown. */
export type ResolvedConfig = UpstreamConfig & {
  /** The secrets in it, to be masked wherever text of the upstream is shown. */
  secrets: readonly string[]
}
