import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import type { DatabaseTarget } from '../db/target.ts'
import { SHUTDOWN_DELAY_MS } from '../kernel/limits.ts'
import { DEFAULT_DATABASE_URL, ENVIRONMENT, type Environment, LOOPBACK, type SettingName } from './environment.ts'
import { conflictsOf, type Given } from './environment-conflicts.ts'
import { findMemoryMb, type MemoryBudget, MIN_MEMORY_MB, maxCutResultsMb, shareMemory } from './memory-budget.ts'

/** A setting as `doctor` shows it, without secret values. */
export type SettingOrigin = {
  name: SettingName
  value: string
  from: 'environment' | '.env' | 'default'
  /** Whether the value equals the default. */
  isDefault: boolean
}

/** Lists every invalid setting, one per line, without its value. */
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

const isLocalhost = ({ PATCHBAY_HOST }: Environment): boolean => PATCHBAY_HOST.toLowerCase() === 'localhost'

const portOf = ({ PORT, PATCHBAY_PORT }: Environment): number => PORT ?? PATCHBAY_PORT

const baseUrlOf = (env: Environment): string => env.PATCHBAY_BASE_URL ?? `http://localhost:${portOf(env)}`

const mailFromOf = (env: Environment): string =>
  env.PATCHBAY_MAIL_FROM ?? `Patchbay <patchbay@${new URL(baseUrlOf(env)).hostname}>`

const oidcNameOf = ({ PATCHBAY_OIDC_ISSUER: issuer, PATCHBAY_OIDC_NAME: name }: Environment): string | undefined =>
  name ?? (issuer === undefined ? undefined : new URL(issuer).host)

/** Returns the external OpenID Connect provider for sign-in, if configured. */
const externalProviderOf = (env: Environment) => {
  const { PATCHBAY_OIDC_ISSUER: issuer, PATCHBAY_OIDC_CLIENT_ID: clientId } = env
  if (issuer === undefined || clientId === undefined) return undefined
  return { issuer, clientId, clientSecret: env.PATCHBAY_OIDC_CLIENT_SECRET, name: oidcNameOf(env) ?? issuer }
}

/** Returns the embeddings endpoint for tool search, if configured. */
const embeddingsOf = (env: Environment) => {
  const { PATCHBAY_EMBEDDINGS_URL: url, PATCHBAY_EMBEDDINGS_MODEL: model, PATCHBAY_EMBEDDINGS_KEY: key } = env
  return url === undefined || model === undefined ? undefined : { url, model, key }
}

/** Returns the parts of the memory, with the setting for one of them. */
const memoryOf = ({ PATCHBAY_MEMORY_MB, PATCHBAY_ANSWER_CACHE_MB }: Environment): MemoryBudget =>
  shareMemory(PATCHBAY_MEMORY_MB ?? findMemoryMb(), PATCHBAY_ANSWER_CACHE_MB)

/** Returns an error if the container has less memory than Patchbay needs. The setting is checked by itself. */
const memoryProblemsOf = ({ PATCHBAY_MEMORY_MB }: Given): string[] => {
  const found = findMemoryMb()
  return PATCHBAY_MEMORY_MB !== undefined || found >= MIN_MEMORY_MB
    ? []
    : [
        `PATCHBAY_MEMORY_MB is not set, and this container has ${found} MB of memory: Patchbay needs ${MIN_MEMORY_MB} MB. Raise the memory limit of the container`,
      ]
}

/** Returns an error if the memory for cut results leaves too little for everything else. */
const cutResultProblemsOf = (env: Environment): string[] => {
  const { PATCHBAY_ANSWER_CACHE_MB: mb = 0 } = env
  const { totalMb } = memoryOf(env)
  const most = maxCutResultsMb(totalMb)
  return mb <= most
    ? []
    : [
        `PATCHBAY_ANSWER_CACHE_MB must be at most ${most}, because Patchbay uses ${totalMb} MB of memory in all (PATCHBAY_MEMORY_MB)`,
      ]
}

/** Variables that upstream commands inherit: enough to run, and nothing secret. */
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
  host: isLocalhost(env) ? '127.0.0.1' : env.PATCHBAY_HOST,
  /** Whether to listen on ::1 as well, if the machine has it, because browsers and clients may resolve the name to it. */
  listensOnIpv6Loopback: isLocalhost(env),
  port: portOf(env),
  listensOnLoopback: LOOPBACK.test(env.PATCHBAY_HOST),
  baseUrl: baseUrlOf(env),
  database: env.DATABASE_URL,
  /** Folder that contains the database, the master key and the outbox. */
  dataDirectory: dataDirectoryOf(env.DATABASE_URL, directory),
  masterKeys: env.PATCHBAY_MASTER_KEY,
  allowPrivateNetworks: env.PATCHBAY_ALLOW_PRIVATE_NETWORKS,
  allowedOrigins: env.PATCHBAY_ALLOWED_ORIGINS,
  allowStdio: env.PATCHBAY_ALLOW_STDIO,
  /** Environment of every upstream command, in addition to the variables configured for the upstream. */
  commandEnvironment: commandEnvironmentOf(given),
  /** Personal access token that Patchbay's own commands send to a running Patchbay. */
  token: env.PATCHBAY_TOKEN,
  signup: env.PATCHBAY_SIGNUP,
  tenancy: env.PATCHBAY_TENANCY,
  externalProvider: externalProviderOf(env),
  embeddings: embeddingsOf(env),
  /** Bearer token for /metrics; undefined turns the endpoint off. */
  metricsToken: env.PATCHBAY_METRICS_TOKEN,
  trustProxy: env.PATCHBAY_TRUST_PROXY,
  logLevel: env.PATCHBAY_LOG_LEVEL,
  smtpUrl: env.SMTP_URL,
  mailFrom: mailFromOf(env),
  auditDays: env.PATCHBAY_AUDIT_DAYS,
  /** Grace period for a used refresh token; 0 for none. */
  oauthRefreshGraceMs: env.PATCHBAY_OAUTH_REFRESH_GRACE_SECONDS * 1_000,
  /** The memory limits of Patchbay's parts. */
  memory: memoryOf(env),
  /** Not needed on loopback, where no load balancer has to notice that Patchbay is stopping. */
  shutdownDelayMs: env.PATCHBAY_SHUTDOWN_DELAY_MS ?? (LOOPBACK.test(env.PATCHBAY_HOST) ? 0 : SHUTDOWN_DELAY_MS),
  limits: {
    maxRequestBytes: env.PATCHBAY_MAX_REQUEST_BYTES,
    maxImportBytes: env.PATCHBAY_MAX_IMPORT_BYTES,
    maxResponseBytes: env.PATCHBAY_MAX_RESPONSE_BYTES,
    maxToolTimeoutMs: env.PATCHBAY_MAX_TOOL_TIMEOUT_MS,
    maxRedirects: env.PATCHBAY_MAX_REDIRECTS,
    maxCallsPerOrigin: env.PATCHBAY_MAX_CALLS_PER_ORIGIN,
    maxToolsPerServer: env.PATCHBAY_MAX_TOOLS_PER_SERVER,
    maxJsonDepth: env.PATCHBAY_MAX_JSON_DEPTH,
    maxSessionsPerServer: env.PATCHBAY_MAX_SESSIONS_PER_SERVER,
    maxSessionIdleMs: env.PATCHBAY_MAX_SESSION_IDLE_MS,
    maxDrainMs: env.PATCHBAY_MAX_DRAIN_MS,
  },
  origins,
  /** Unknown variables whose names start with PATCHBAY_, which are probably typos. */
  unknown,
})

export type Settings = Readonly<ReturnType<typeof toSettings>>

/** Removes credentials and query parameters from a URL. */
const withoutCredentials = (text: string | undefined): string => {
  if (text === undefined) return 'none'
  const { protocol, username, password, host, pathname, search } = new URL(text)
  return `${protocol}//${username || password ? '…@' : ''}${host}${pathname}${search && '?…'}`
}

/** Formats a setting for `doctor`. `given` is its value in the environment. */
const shownOf = (env: Environment, name: SettingName, given: string | undefined): string => {
  switch (name) {
    case 'PATCHBAY_PORT':
      return String(portOf(env))
    case 'PATCHBAY_BASE_URL':
      return baseUrlOf(env)
    case 'PATCHBAY_MAIL_FROM':
      return mailFromOf(env)
    case 'PATCHBAY_OIDC_NAME':
      return oidcNameOf(env) ?? 'none'
    case 'PATCHBAY_MEMORY_MB':
      return String(memoryOf(env).totalMb)
    case 'PATCHBAY_ANSWER_CACHE_MB':
      return String(memoryOf(env).cutResultBytes / 1_024 / 1_024)
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

/** Returns whether leaving out a setting that is set to a valid value would change nothing. */
const isAsDefault = (env: Environment, all: Given, name: SettingName): boolean => {
  const { [name]: _, ...others } = all
  return shownOf(ENVIRONMENT.parse(others), name, undefined) === shownOf(env, name, all[name])
}

const readEnvFile = (directory: string): Given => {
  const path = join(directory, '.env')
  if (!existsSync(path)) return {}
  try {
    // Some editors put a byte order mark before the first name.
    return parseEnv(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new SettingsError([`${path} cannot be read: ${error instanceof Error ? error.message : 'unknown reason'}`])
  }
}

/** Reads an environment variable that the operator's configuration file refers to. */
export const readVariable = (name: string): string | undefined => process.env[name]

/** Loads the settings. Values in `fixed` override the environment. */
export const loadSettingsWith = (fixed: Readonly<Record<string, string>>): Settings =>
  loadSettings({ ...process.env, ...fixed })

/** Removes empty values, which Compose files and shells use for "not set". */
const withoutEmpty = (given: Given): Given =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== ''))

/** Hosting platforms set PORT and connect from outside this machine. PATCHBAY_PORT takes precedence. */
const withPlatformPort = ({ PORT, ...given }: Given): Given =>
  PORT === undefined || given.PATCHBAY_PORT !== undefined ? given : { PATCHBAY_HOST: '0.0.0.0', ...given, PORT }

/**
 * Reads the settings from the environment, or else from `.env` in `directory`. Throws SettingsError, which lists every
 * invalid setting.
 */
export const loadSettings = (given: NodeJS.ProcessEnv = process.env, directory = process.cwd()): Settings => {
  const file = withoutEmpty(readEnvFile(directory))
  const environment = withoutEmpty(given)
  const all = withPlatformPort({ ...file, ...environment })
  const parsed = ENVIRONMENT.safeParse(all)
  const issues = parsed.error?.issues.map(issue => `${issue.path.join('.')} ${issue.message}`) ?? []
  const ofMemory = parsed.success ? cutResultProblemsOf(parsed.data) : []
  const lines = [...issues, ...conflictsOf(all), ...memoryProblemsOf(all), ...ofMemory]
  if (!parsed.success || lines.length > 0) throw new SettingsError(lines)
  const origins = ENVIRONMENT.keyof().options.map((name): SettingOrigin => {
    const from = environment[name] !== undefined ? 'environment' : file[name] !== undefined ? '.env' : 'default'
    const isDefault = from === 'default' || isAsDefault(parsed.data, all, name)
    return { name, value: shownOf(parsed.data, name, all[name]), from, isDefault }
  })
  const unknown = Object.keys(all).filter(name => name.startsWith('PATCHBAY_') && !(name in ENVIRONMENT.shape))
  return Object.freeze(toSettings(parsed.data, environment, directory, origins, unknown))
}
