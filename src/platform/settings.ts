import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { z } from 'zod'
import * as kernel from '../kernel/index.ts'
import { type DatabaseTarget, parseDatabaseUrl } from './db/index.ts'
import { isMasterKey } from './master-keys.ts'
import { isCidr } from './net/index.ts'

const list = z.string().transform(text => text.split(',').flatMap(part => part.trim() || []))
const cidrs = list.refine(parts => parts.every(isCidr), 'is no comma-separated list of CIDR ranges such as 10.0.0.0/8')
const flag = z.enum(['true', 'false'], 'is neither true nor false').transform(text => text === 'true')

const wholeNumber = (minimum: number, maximum = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .regex(/^\d+$/, 'is no whole number')
    .transform(Number)
    .refine(value => value >= minimum && value <= maximum, `is not between ${minimum} and ${maximum}`)

/** A name, an IPv4 address, or an IPv6 address with or without brackets. */
const isHostName = (text: string): boolean =>
  URL.canParse(`http://${text.includes(':') ? `[${text.replace(/^\[|\]$/g, '')}]` : text}/`)

const masterKeys = list.refine(
  keys => keys.length > 0 && keys.every(isMasterKey),
  'is no base64 of 32 bytes (make one with: npx patchbay key generate)',
)

const oneOf = <const Name extends string>(names: readonly Name[]) => z.enum(names, `is none of ${names.join(', ')}`)

const LOOPBACK = /^(127(\.\d{1,3}){3}|::1|localhost)$/i

/** OpenID Connect Discovery 1.0 §4.1: without query and fragment. In clear text only where nobody can listen. */
const isIssuer = (text: string): boolean => {
  const url = URL.parse(text)
  if (url === null || url.username || url.password || url.search || url.hash) return false
  if (url.pathname.includes('/.well-known/')) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.test(url.hostname.replace(/^\[|\]$/g, '')))
}

/** An address that requests of ours go to: without who signs in, which nothing would hide, and without fragment. */
const isEndpoint = (text: string): boolean => {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && !(url.username || url.password || url.hash)
}

const DEFAULT_DATABASE_URL = 'file:./data/patchbay.db'

const database = z.string().transform((text, context): DatabaseTarget => {
  const target = parseDatabaseUrl(text)
  if (target.ok) return target.value
  context.addIssue({ code: 'custom', message: `is no database: ${target.error}` })
  return z.NEVER
})

const ENVIRONMENT = z.object({
  NODE_ENV: z.string().optional(),
  PATCHBAY_HOST: z
    .string()
    .refine(isHostName, 'is no host name or address (the port goes into PATCHBAY_PORT)')
    .transform(text => text.replace(/^\[|\]$/g, ''))
    .default('127.0.0.1'),
  PATCHBAY_PORT: wholeNumber(1, 65_535).default(8_080),
  PATCHBAY_BASE_URL: z
    .string()
    .refine(kernel.isOrigin, 'is no origin such as https://patchbay.example.com')
    .transform(text => new URL(text).origin)
    .optional(),
  DATABASE_URL: database.prefault(DEFAULT_DATABASE_URL),
  PATCHBAY_MASTER_KEY: masterKeys.optional(),
  PATCHBAY_ALLOW_PRIVATE_NETWORKS: cidrs.default([]),
  PATCHBAY_ALLOWED_ORIGINS: list
    .refine(
      origins => origins.every(kernel.isOrigin),
      'is no comma-separated list of origins such as https://app.example.com',
    )
    .transform(origins => origins.map(text => new URL(text).origin))
    .default([]),
  PATCHBAY_ALLOW_STDIO: flag.default(false),
  PATCHBAY_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{1,4096}$/, 'is no access token')
    .optional(),
  PATCHBAY_SIGNUP: oneOf(['open', 'invite', 'closed']).default('open'),
  PATCHBAY_TENANCY: oneOf(['multi', 'single']).default('multi'),
  PATCHBAY_OIDC_ISSUER: z
    .string()
    .refine(
      isIssuer,
      'is no issuer such as https://login.example.com (https, or http on loopback; without /.well-known/openid-configuration)',
    )
    .optional(),
  PATCHBAY_OIDC_CLIENT_ID: z.string().max(256, 'is longer than 256 characters').optional(),
  PATCHBAY_OIDC_CLIENT_SECRET: z.string().max(1_024, 'is longer than 1024 characters').optional(),
  PATCHBAY_OIDC_NAME: z
    .string()
    .regex(/^[^\p{Cc}]{1,60}$/u, 'is no name of 1 to 60 characters in one line')
    .optional(),
  PATCHBAY_EMBEDDINGS_URL: z
    .string()
    .refine(
      isEndpoint,
      'is no address of an endpoint such as http://127.0.0.1:11434/v1/embeddings (a key goes into PATCHBAY_EMBEDDINGS_KEY)',
    )
    .optional(),
  PATCHBAY_EMBEDDINGS_MODEL: z
    .string()
    .regex(/^[^\p{Cc}]{1,256}$/u, 'is no name of 1 to 256 characters in one line')
    .optional(),
  PATCHBAY_EMBEDDINGS_KEY: z
    .string()
    .regex(/^[\x21-\x7e]{1,4096}$/, 'is no key: 1 to 4096 characters of ASCII without spaces')
    .optional(),
  PATCHBAY_METRICS_TOKEN: z
    .string()
    .regex(
      /^[\x21-\x7e]{32,4096}$/,
      'is no token of 32 to 4096 characters of ASCII without spaces (make one with: npx patchbay key generate)',
    )
    .optional(),
  PATCHBAY_TRUST_PROXY: cidrs.default([]),
  PATCHBAY_LOG_LEVEL: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  SMTP_URL: z
    .string()
    .refine(text => /^smtps?:\/\//.test(text) && URL.canParse(text), 'is no smtp: or smtps: URL')
    .optional(),
  PATCHBAY_MAIL_FROM: z
    .string()
    .regex(/^(?:[^<>\r\n]* <)?[^\s<>@]+@[^\s<>@]+>?$/, 'is no sender such as Patchbay <patchbay@example.com>')
    .optional(),
  PATCHBAY_AUDIT_DAYS: wholeNumber(0, 36_500).default(kernel.AUDIT_DAYS),
  PATCHBAY_OAUTH_REFRESH_GRACE_SECONDS: wholeNumber(0, 60).default(kernel.OAUTH_REFRESH_GRACE_SECONDS),
  PATCHBAY_ANSWER_CACHE_MB: wholeNumber(0, 1_048_576).default(kernel.ANSWER_CACHE_MB),
  PATCHBAY_MAX_REQUEST_BYTES: wholeNumber(1_024).default(kernel.MAX_REQUEST_BYTES),
  PATCHBAY_MAX_RESPONSE_BYTES: wholeNumber(1_024).default(kernel.MAX_RESPONSE_BYTES),
  PATCHBAY_MAX_TOOL_TIMEOUT_MS: wholeNumber(1_000, 3_600_000).default(kernel.MAX_TOOL_TIMEOUT_MS),
  PATCHBAY_MAX_REDIRECTS: wholeNumber(0, 20).default(kernel.MAX_REDIRECTS),
  PATCHBAY_MAX_TOOLS_PER_SERVER: wholeNumber(1).default(kernel.MAX_TOOLS_PER_SERVER),
  PATCHBAY_MAX_JSON_DEPTH: wholeNumber(8, 1_000).default(kernel.MAX_JSON_DEPTH),
  PATCHBAY_MAX_SESSIONS_PER_SERVER: wholeNumber(1).default(kernel.MAX_SESSIONS_PER_SERVER),
  PATCHBAY_MAX_SESSION_IDLE_MS: wholeNumber(1_000).default(kernel.MAX_SESSION_IDLE_MS),
  PATCHBAY_MAX_DRAIN_MS: wholeNumber(0, 600_000).default(kernel.MAX_DRAIN_MS),
})

type Environment = z.infer<typeof ENVIRONMENT>
export type SettingName = keyof Environment

/** What `doctor` shows of one setting: never the value of a secret one. */
export type SettingOrigin = { name: SettingName; value: string; from: 'environment' | '.env' | 'default' }

/** Every bad setting, a line each; values are never shown. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
  readonly lines: readonly string[]
  constructor(lines: readonly string[]) {
    super(lines.join('\n'))
    this.lines = lines
  }
}

const dataDirectoryOf = (target: DatabaseTarget, directory: string): string =>
  target.kind === 'sqlite' ? dirname(resolve(target.file)) : resolve(directory, 'data')

const baseUrlOf = ({ PATCHBAY_BASE_URL, PATCHBAY_PORT }: Environment): string =>
  PATCHBAY_BASE_URL ?? `http://localhost:${PATCHBAY_PORT}`

const mailFromOf = (env: Environment): string =>
  env.PATCHBAY_MAIL_FROM ?? `Patchbay <patchbay@${new URL(baseUrlOf(env)).hostname}>`

const oidcNameOf = ({ PATCHBAY_OIDC_ISSUER: issuer, PATCHBAY_OIDC_NAME: name }: Environment): string | undefined =>
  name ?? (issuer === undefined ? undefined : new URL(issuer).host)

/** The external OpenID Connect provider that people may sign in with, if there is one. */
const externalProviderOf = (env: Environment) => {
  const { PATCHBAY_OIDC_ISSUER: issuer, PATCHBAY_OIDC_CLIENT_ID: clientId } = env
  if (issuer === undefined || clientId === undefined) return undefined
  return { issuer, clientId, clientSecret: env.PATCHBAY_OIDC_CLIENT_SECRET, name: oidcNameOf(env) ?? issuer }
}

/** What turns texts into vectors, so that tools are found by meaning too, if the operator has set it. */
const embeddingsOf = (env: Environment) => {
  const { PATCHBAY_EMBEDDINGS_URL: url, PATCHBAY_EMBEDDINGS_MODEL: model, PATCHBAY_EMBEDDINGS_KEY: key } = env
  return url === undefined || model === undefined ? undefined : { url, model, key }
}

/** What a command needs to be found and to find its own things; nothing that could hold a secret. */
const COMMAND_VARIABLES = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR']

const commandEnvironmentOf = (given: Given): Readonly<Record<string, string>> =>
  Object.fromEntries(
    COMMAND_VARIABLES.flatMap(name => {
      const value = given[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )

const toSettings = (
  env: Environment,
  given: Given,
  directory: string,
  origins: readonly SettingOrigin[],
  unknown: readonly string[],
) => ({
  isProduction: env.NODE_ENV === 'production',
  // By that name Fastify listens on both families with two servers, and a stop waits for the calls of one only.
  host: env.PATCHBAY_HOST === 'localhost' ? '127.0.0.1' : env.PATCHBAY_HOST,
  port: env.PATCHBAY_PORT,
  listensOnLoopback: LOOPBACK.test(env.PATCHBAY_HOST),
  baseUrl: baseUrlOf(env),
  database: env.DATABASE_URL,
  /** Where the master key and the outbox are kept when nothing else is said: beside the database. */
  dataDirectory: dataDirectoryOf(env.DATABASE_URL, directory),
  masterKeys: env.PATCHBAY_MASTER_KEY,
  allowPrivateNetworks: env.PATCHBAY_ALLOW_PRIVATE_NETWORKS,
  allowedOrigins: env.PATCHBAY_ALLOWED_ORIGINS,
  allowStdio: env.PATCHBAY_ALLOW_STDIO,
  /** What every command of an upstream sees of our environment, besides the variables that are named for it. */
  commandEnvironment: commandEnvironmentOf(given),
  /** What the commands show a running Patchbay: a personal access token. */
  token: env.PATCHBAY_TOKEN,
  signup: env.PATCHBAY_SIGNUP,
  tenancy: env.PATCHBAY_TENANCY,
  externalProvider: externalProviderOf(env),
  embeddings: embeddingsOf(env),
  /** What whoever collects the metrics shows; undefined: nobody can. */
  metricsToken: env.PATCHBAY_METRICS_TOKEN,
  trustProxy: env.PATCHBAY_TRUST_PROXY,
  logLevel: env.PATCHBAY_LOG_LEVEL,
  smtpUrl: env.SMTP_URL,
  mailFrom: mailFromOf(env),
  auditDays: env.PATCHBAY_AUDIT_DAYS,
  /** How long a refresh token that was used may be used again; 0: never. */
  oauthRefreshGraceMs: env.PATCHBAY_OAUTH_REFRESH_GRACE_SECONDS * 1_000,
  /** All answers that are kept for the calls that go on from them; 0: none is. */
  answerCacheBytes: env.PATCHBAY_ANSWER_CACHE_MB * 1_024 * 1_024,
  limits: {
    maxRequestBytes: env.PATCHBAY_MAX_REQUEST_BYTES,
    maxResponseBytes: env.PATCHBAY_MAX_RESPONSE_BYTES,
    maxToolTimeoutMs: env.PATCHBAY_MAX_TOOL_TIMEOUT_MS,
    maxRedirects: env.PATCHBAY_MAX_REDIRECTS,
    maxToolsPerServer: env.PATCHBAY_MAX_TOOLS_PER_SERVER,
    maxJsonDepth: env.PATCHBAY_MAX_JSON_DEPTH,
    maxSessionsPerServer: env.PATCHBAY_MAX_SESSIONS_PER_SERVER,
    maxSessionIdleMs: env.PATCHBAY_MAX_SESSION_IDLE_MS,
    maxDrainMs: env.PATCHBAY_MAX_DRAIN_MS,
  },
  origins,
  /** Names that look like settings of ours and are none: likely typing errors. */
  unknown,
})

export type Settings = Readonly<ReturnType<typeof toSettings>>

type Given = NodeJS.Dict<string>

const keyConflictsOf = ({ NODE_ENV, DATABASE_URL, PATCHBAY_MASTER_KEY }: Given): string[] =>
  NODE_ENV === 'production' && /^postgres(ql)?:/.test(DATABASE_URL ?? '') && PATCHBAY_MASTER_KEY === undefined
    ? ['PATCHBAY_MASTER_KEY is required with PostgreSQL in production: every replica needs the same one']
    : []

const OIDC_REST = ['PATCHBAY_OIDC_CLIENT_ID', 'PATCHBAY_OIDC_CLIENT_SECRET', 'PATCHBAY_OIDC_NAME']

const oidcConflictsOf = (given: Given): string[] => {
  if (given.PATCHBAY_OIDC_ISSUER === undefined) {
    const stray = OIDC_REST.filter(name => given[name] !== undefined)
    return stray.map(name => `${name} does nothing without PATCHBAY_OIDC_ISSUER: set both, or neither`)
  }
  return given.PATCHBAY_OIDC_CLIENT_ID === undefined
    ? ['PATCHBAY_OIDC_CLIENT_ID is required with PATCHBAY_OIDC_ISSUER: the provider gives it for Patchbay']
    : []
}

const EMBEDDINGS_REST = ['PATCHBAY_EMBEDDINGS_MODEL', 'PATCHBAY_EMBEDDINGS_KEY']

const embeddingsConflictsOf = (given: Given): string[] => {
  if (given.PATCHBAY_EMBEDDINGS_URL === undefined) {
    const stray = EMBEDDINGS_REST.filter(name => given[name] !== undefined)
    return stray.map(name => `${name} does nothing without PATCHBAY_EMBEDDINGS_URL: set both, or neither`)
  }
  return given.PATCHBAY_EMBEDDINGS_MODEL === undefined
    ? ['PATCHBAY_EMBEDDINGS_MODEL is required with PATCHBAY_EMBEDDINGS_URL: the endpoint is asked for it by name']
    : []
}

/** What no single setting shows wrong, but several together do. Looked for beside settings that are wrong by themselves. */
const conflictsOf = (given: Given): string[] => [
  ...keyConflictsOf(given),
  ...oidcConflictsOf(given),
  ...embeddingsConflictsOf(given),
]

/** An address without what may be secret in it: who signs in, and parameters. */
const withoutCredentials = (text: string | undefined): string => {
  if (text === undefined) return 'none'
  const { protocol, username, password, host, pathname, search } = new URL(text)
  return `${protocol}//${username || password ? '…@' : ''}${host}${pathname}${search && '?…'}`
}

/** A setting as `doctor` shows it; `given` is how it was written. */
const shownOf = (env: Environment, name: SettingName, given: string | undefined): string => {
  switch (name) {
    case 'PATCHBAY_BASE_URL':
      return baseUrlOf(env)
    case 'PATCHBAY_MAIL_FROM':
      return mailFromOf(env)
    case 'PATCHBAY_OIDC_NAME':
      return oidcNameOf(env) ?? 'none'
    case 'PATCHBAY_MASTER_KEY':
    case 'PATCHBAY_TOKEN':
    case 'PATCHBAY_OIDC_CLIENT_SECRET':
    case 'PATCHBAY_EMBEDDINGS_KEY':
    case 'PATCHBAY_METRICS_TOKEN':
      return given === undefined ? 'none' : 'set'
    case 'DATABASE_URL':
      return env.DATABASE_URL.kind === 'sqlite' ? (given ?? DEFAULT_DATABASE_URL) : withoutCredentials(given)
    case 'SMTP_URL':
    case 'PATCHBAY_EMBEDDINGS_URL':
      return withoutCredentials(given)
    default:
      return String(env[name] ?? '') || 'none'
  }
}

const readEnvFile = (directory: string): Given => {
  const path = join(directory, '.env')
  if (!existsSync(path)) return {}
  try {
    return parseEnv(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new SettingsError([`${path} cannot be read: ${error instanceof Error ? error.message : 'unknown reason'}`])
  }
}

/** A variable of the environment, as configuration files of the operator's own refer to it. */
export const readVariable = (name: string): string | undefined => process.env[name]

/** As `loadSettings`, whatever the environment says of these. */
export const loadSettingsWith = (fixed: Readonly<Record<string, string>>): Settings =>
  loadSettings({ ...process.env, ...fixed })

/** An empty value is what compose files and shells write for "not set". */
const withoutEmpty = (given: Given): Given =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== ''))

/**
 * Reads the settings from the environment and, for what is not there, from `.env` in `directory`.
 * Throws SettingsError, which names every bad one at once.
 */
export const loadSettings = (given: NodeJS.ProcessEnv = process.env, directory = process.cwd()): Settings => {
  const file = withoutEmpty(readEnvFile(directory))
  const environment = withoutEmpty(given)
  const all = { ...file, ...environment }
  const parsed = ENVIRONMENT.safeParse(all)
  const issues = parsed.error?.issues.map(issue => `${issue.path.join('.')} ${issue.message}`) ?? []
  const lines = [...issues, ...conflictsOf(all)]
  if (!parsed.success || lines.length > 0) throw new SettingsError(lines)
  const origins = ENVIRONMENT.keyof().options.map(
    (name): SettingOrigin => ({
      name,
      value: shownOf(parsed.data, name, all[name]),
      from: environment[name] !== undefined ? 'environment' : file[name] !== undefined ? '.env' : 'default',
    }),
  )
  const unknown = Object.keys(all).filter(name => name.startsWith('PATCHBAY_') && !(name in ENVIRONMENT.shape))
  return Object.freeze(toSettings(parsed.data, environment, directory, origins, unknown))
}
