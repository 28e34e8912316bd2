import type { ResultShaping } from '../tools/response/result-shaping.ts'

export const UPSTREAM_TRANSPORTS = ['stdio', 'http', 'sse'] as const
export type UpstreamTransport = (typeof UPSTREAM_TRANSPORTS)[number]

/** Which kinds of things are passed on; asking for one that is off is answered with an error that names it. */
export type UpstreamFeatures = { tools: boolean; resources: boolean; prompts: boolean }

/** A command of this machine, run without a shell. Every text may hold `{{global}}`. */
export type StdioConfig = {
  transport: 'stdio'
  command: string
  args: readonly string[]
  /** All that the process sees of an environment, besides what a command needs to be found. */
  env: Readonly<Record<string, string>>
  cwd?: string | undefined
}

/** A server elsewhere: Streamable HTTP, or the HTTP+SSE transport of 2024-11-05. URL and header values may hold `{{global}}`. */
export type RemoteConfig = {
  transport: 'http' | 'sse'
  url: string
  /** More addresses of the same server, which a passthrough server spreads requests over; others use the first alone. */
  urls?: readonly string[] | undefined
  headers: Readonly<Record<string, string>>
}

/** How a remote upstream is told on whose behalf it is asked, beside its headers. */
export type UpstreamAuth =
  | { type: 'none' }
  | {
      /** By an account that was connected there; what is secret about it is kept elsewhere. */
      type: 'oauth'
      /** Whose: one that all callers share, or each caller's own. */
      per: 'server' | 'caller'
      /** Of a client that was registered there by hand; left out: Patchbay registers itself. */
      clientId?: string | undefined
      /** What to ask for; left out: what the upstream says that it needs. */
      scopes?: readonly string[] | undefined
    }

/** What holds whichever the transport. */
export type UpstreamSettings = {
  /** One operation's. */
  timeoutMs: number
  /** Whether the connection is made at once, not with the first call. */
  isEager: boolean
  features: UpstreamFeatures
  /** Patterns of tool names, `*` for any characters: only what one matches is passed on. */
  allow?: readonly string[] | undefined
  /** As `allow`, for what is left out; it has the last word. */
  deny?: readonly string[] | undefined
  /** Before the names of its tools, in place of the upstream's own name. */
  prefix?: string | undefined
  auth: UpstreamAuth
}

type OAuth = Extract<UpstreamAuth, { type: 'oauth' }>

export const isOAuth = (auth: UpstreamAuth | undefined): auth is OAuth => auth?.type === 'oauth'

/** Whether each caller goes to it by an account of their own. */
export const isPerCaller = ({ auth }: Pick<UpstreamSettings, 'auth'>): boolean =>
  auth.type === 'oauth' && auth.per === 'caller'

export type UpstreamConfig = (StdioConfig | RemoteConfig) & UpstreamSettings

/** What is done with the answers of one tool of an upstream, as of a tool of ours. */
export type ToolAnswers = {
  response?: ResultShaping | undefined
  /** Seconds that an answer is kept for the next call; of a tool that is read-only, by whoever's word. */
  cacheSeconds?: number | undefined
  /** Whether kept answers are the same for every caller. */
  cacheShared?: boolean | undefined
  /** The builder's word that it changes nothing. */
  readOnly?: boolean | undefined
}

/** An existing MCP server that a server of ours holds. */
export type Upstream = {
  id: string
  serverId: string
  name: string
  description: string | undefined
  isEnabled: boolean
  /** As the builder wrote it, `{{global}}` and all. */
  config: UpstreamConfig
  /** Tokens of an answer that are sent at most, in place of the server's, by the names of its tools; 0: all. */
  responseTokens: Readonly<Record<string, number>>
  /** What is done with the answers of its tools, by their names. */
  toolAnswers: Readonly<Record<string, ToolAnswers>>
  createdAt: Date
  updatedAt: Date
}

/**
 * How its connection is. `why` may be shown to whoever may see the upstream; `ownWords` is the same without what the
 * upstream itself said, where it did.
 */
export type UpstreamState =
  | { kind: 'idle' | 'connecting' | 'connected' }
  | { kind: 'disabled' }
  | { kind: 'failed'; why: string; ownWords?: string; since: Date; nextTryAt: Date | undefined }

/** How an upstream is that nothing has connected. */
export const restingState = ({ isEnabled }: Pick<Upstream, 'isEnabled'>): UpstreamState => ({
  kind: isEnabled ? 'idle' : 'disabled',
})

/** What a connection is made of: as `UpstreamConfig`, every `{{global}}` replaced by its value. Never kept, never shown. */
export type ResolvedConfig = UpstreamConfig & {
  /** Values of secrets that stand in it: to be masked in whatever is shown of the connection. */
  secrets: readonly string[]
}
