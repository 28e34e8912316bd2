import { z } from 'zod'
import { type DatabaseTarget, parseDatabaseUrl } from '../db/target.ts'
import {
  AUDIT_DAYS,
  MAX_CALLS_PER_ORIGIN,
  MAX_DRAIN_MS,
  MAX_IMPORT_BYTES,
  MAX_JSON_DEPTH,
  MAX_REDIRECTS,
  MAX_REQUEST_BYTES,
  MAX_RESPONSE_BYTES,
  MAX_SESSION_IDLE_MS,
  MAX_SESSIONS_PER_SERVER,
  MAX_SOCKETS_PER_ORIGIN,
  MAX_TOOL_TIMEOUT_MS,
  MAX_TOOLS_PER_SERVER,
  OAUTH_REFRESH_GRACE_SECONDS,
} from '../kernel/limits.ts'
import { isOrigin } from '../kernel/names.ts'
import { isCidr } from '../outbound/address-policy.ts'
import { isMasterKey } from './master-keys.ts'
import { MIN_MEMORY_MB } from './memory-budget.ts'

const list = z.string().transform(text => text.split(',').flatMap(part => part.trim() || []))
const cidrs = list.refine(
  parts => parts.every(isCidr),
  'is not a comma-separated list of CIDR ranges such as 10.0.0.0/8',
)
const flag = z.enum(['true', 'false'], 'must be true or false').transform(text => text === 'true')

const wholeNumber = (minimum: number, maximum = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .regex(/^\d+$/, 'is not a whole number')
    .transform(Number)
    .refine(value => value >= minimum && value <= maximum, `is not between ${minimum} and ${maximum}`)

const withoutBrackets = (host: string): string => host.replace(/^\[|\]$/g, '')

/** A name, an IPv4 address, or an IPv6 address with or without brackets. */
const isHostName = (text: string): boolean =>
  URL.canParse(`http://${text.includes(':') ? `[${withoutBrackets(text)}]` : text}/`)

const masterKeys = list.refine(
  keys => keys.length > 0 && keys.every(isMasterKey),
  'is not the base64 of 32 bytes (create one with: npx patchbay key generate)',
)

const oneOf = <const Name extends string>(names: readonly Name[]) => z.enum(names, `must be one of ${names.join(', ')}`)

/** Matches names and addresses that only this machine can reach. */
export const LOOPBACK = /^(127(\.\d{1,3}){3}|::1|localhost)$/i

/**
 * Whether a URL can be an issuer (OpenID Connect Discovery 1.0 §4.1): no query and no fragment. Plain http is allowed
 * only on loopback.
 */
const isIssuer = (text: string): boolean => {
  const url = URL.parse(text)
  if (url === null || url.username || url.password || url.search || url.hash) return false
  if (url.pathname.includes('/.well-known/')) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.test(withoutBrackets(url.hostname)))
}

/** Whether a string is an http(s) URL without a fragment, and without credentials, which logs would show. */
const isEndpoint = (text: string): boolean => {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && !(url.username || url.password || url.hash)
}

export const DEFAULT_DATABASE_URL = 'file:./data/patchbay.db'

const database = z.string().transform((text, context): DatabaseTarget => {
  const target = parseDatabaseUrl(text)
  if (target.ok) return target.value
  context.addIssue({ code: 'custom', message: `is not a database URL: ${target.error}` })
  return z.NEVER
})

export const ENVIRONMENT = z.object({
  NODE_ENV: z.string().optional(),
  PATCHBAY_HOST: z
    .string()
    .refine(isHostName, 'is not a host name or address (set the port with PATCHBAY_PORT)')
    .transform(withoutBrackets)
    .default('localhost'),
  PATCHBAY_PORT: wholeNumber(1, 65_535).default(8_080),
  PORT: wholeNumber(1, 65_535).optional(),
  PATCHBAY_BASE_URL: z
    .string()
    .refine(isOrigin, 'is not an origin such as https://patchbay.example.com')
    .transform(text => new URL(text).origin)
    .optional(),
  DATABASE_URL: database.prefault(DEFAULT_DATABASE_URL),
  PATCHBAY_MASTER_KEY: masterKeys.optional(),
  PATCHBAY_ALLOW_PRIVATE_NETWORKS: cidrs.default([]),
  PATCHBAY_ALLOWED_ORIGINS: list
    .refine(
      origins => origins.every(isOrigin),
      'is not a comma-separated list of origins such as https://app.example.com',
    )
    .transform(origins => origins.map(text => new URL(text).origin))
    .default([]),
  PATCHBAY_ALLOW_STDIO: flag.default(false),
  PATCHBAY_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{1,4096}$/, 'is not an access token')
    .optional(),
  PATCHBAY_SIGNUP: oneOf(['open', 'invite', 'closed']).default('open'),
  PATCHBAY_TENANCY: oneOf(['multi', 'single']).default('multi'),
  PATCHBAY_OIDC_ISSUER: z
    .string()
    .refine(
      isIssuer,
      'is not an issuer such as https://login.example.com (https, or http on loopback; without /.well-known/openid-configuration)',
    )
    .optional(),
  PATCHBAY_OIDC_CLIENT_ID: z.string().max(256, 'is longer than 256 characters').optional(),
  PATCHBAY_OIDC_CLIENT_SECRET: z.string().max(1_024, 'is longer than 1024 characters').optional(),
  PATCHBAY_OIDC_NAME: z
    .string()
    .regex(/^[^\p{Cc}]{1,60}$/u, 'is not a name of 1 to 60 characters on one line')
    .optional(),
  PATCHBAY_EMBEDDINGS_URL: z
    .string()
    .refine(
      isEndpoint,
      'is not an address such as http://127.0.0.1:11434/v1/embeddings (set a key with PATCHBAY_EMBEDDINGS_KEY)',
    )
    .optional(),
  PATCHBAY_EMBEDDINGS_MODEL: z
    .string()
    .regex(/^[^\p{Cc}]{1,256}$/u, 'is not a name of 1 to 256 characters on one line')
    .optional(),
  PATCHBAY_EMBEDDINGS_KEY: z
    .string()
    .regex(/^[\x21-\x7e]{1,4096}$/, 'is not a key of 1 to 4096 ASCII characters without spaces')
    .optional(),
  PATCHBAY_METRICS_TOKEN: z
    .string()
    .regex(
      /^[\x21-\x7e]{32,4096}$/,
      'is not a token of 32 to 4096 ASCII characters without spaces (create one with: npx patchbay key generate)',
    )
    .optional(),
  PATCHBAY_TRUST_PROXY: cidrs.default([]),
  PATCHBAY_LOG_LEVEL: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  SMTP_URL: z
    .string()
    .refine(text => /^smtps?:\/\//.test(text) && URL.canParse(text), 'is not an smtp: or smtps: URL')
    .optional(),
  PATCHBAY_MAIL_FROM: z
    .string()
    .regex(/^(?:[^<>\r\n]* <)?[^\s<>@]+@[^\s<>@]+>?$/, 'is not a sender such as Patchbay <patchbay@example.com>')
    .optional(),
  PATCHBAY_AUDIT_DAYS: wholeNumber(0, 36_500).default(AUDIT_DAYS),
  PATCHBAY_OAUTH_REFRESH_GRACE_SECONDS: wholeNumber(0, 60).default(OAUTH_REFRESH_GRACE_SECONDS),
  PATCHBAY_MEMORY_MB: wholeNumber(MIN_MEMORY_MB, 1_048_576).optional(),
  PATCHBAY_ANSWER_CACHE_MB: wholeNumber(0, 1_048_576).optional(),
  PATCHBAY_MAX_REQUEST_BYTES: wholeNumber(1_024).default(MAX_REQUEST_BYTES),
  PATCHBAY_MAX_IMPORT_BYTES: wholeNumber(1_024, MAX_IMPORT_BYTES).default(MAX_IMPORT_BYTES),
  PATCHBAY_MAX_RESPONSE_BYTES: wholeNumber(1_024).default(MAX_RESPONSE_BYTES),
  PATCHBAY_MAX_TOOL_TIMEOUT_MS: wholeNumber(1_000, 3_600_000).default(MAX_TOOL_TIMEOUT_MS),
  PATCHBAY_MAX_REDIRECTS: wholeNumber(0, 20).default(MAX_REDIRECTS),
  PATCHBAY_MAX_CALLS_PER_ORIGIN: wholeNumber(1, MAX_SOCKETS_PER_ORIGIN).default(MAX_CALLS_PER_ORIGIN),
  PATCHBAY_MAX_TOOLS_PER_SERVER: wholeNumber(1).default(MAX_TOOLS_PER_SERVER),
  PATCHBAY_MAX_JSON_DEPTH: wholeNumber(8, 1_000).default(MAX_JSON_DEPTH),
  PATCHBAY_MAX_SESSIONS_PER_SERVER: wholeNumber(1).default(MAX_SESSIONS_PER_SERVER),
  PATCHBAY_MAX_SESSION_IDLE_MS: wholeNumber(1_000).default(MAX_SESSION_IDLE_MS),
  PATCHBAY_SHUTDOWN_DELAY_MS: wholeNumber(0, 600_000).optional(),
  PATCHBAY_MAX_DRAIN_MS: wholeNumber(0, 600_000).default(MAX_DRAIN_MS),
})

/** The environment's settings, each validated by itself. */
export type Environment = z.infer<typeof ENVIRONMENT>
export type SettingName = keyof Environment
