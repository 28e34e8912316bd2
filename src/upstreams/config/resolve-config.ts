import type { FieldError } from '../../lib/kernel/errors.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { type Credential, refuseCredentials } from '../../lib/outbound/credentials.ts'
import type { RemoteConfig, ResolvedConfig, StdioConfig, UpstreamConfig } from '../upstream.ts'
import { compileRemote } from './compile-remote.ts'
import { compileStdio } from './compile-stdio.ts'
import type { CompiledConfig, DecryptedGlobals, ResolutionFault } from './compiled-config.ts'

/** What resolving an upstream needs of its server. */
export type ServerValues = Pick<ResolvedConfig, 'organizationId'> & { globals: DecryptedGlobals }

/** Parses a configuration. Errors contain the path of their field. */
export const compileConfig = (
  config: UpstreamConfig,
): Result<CompiledConfig<StdioConfig | RemoteConfig>, readonly FieldError[]> =>
  config.transport === 'stdio' ? compileStdio(config) : compileRemote(config)

/** Returns the keys of the globals in a configuration, in order. */
export const keysOfConfig = (config: UpstreamConfig): readonly string[] => {
  const compiled = compileConfig(config)
  return compiled.ok ? [...compiled.value.globals] : []
}

/**
 * Returns the origin of a remote upstream's first URL. Returns undefined if it depends on a missing global, or for a
 * command. `findValue` returns undefined for a missing global.
 */
export const findOriginOf = (
  config: UpstreamConfig,
  findValue: (key: string) => string | undefined,
): string | undefined => {
  if (config.transport === 'stdio') return undefined
  const compiled = compileConfig({ ...config, urls: undefined })
  return compiled.ok ? compiled.value.listOrigins(findValue)[0] : undefined
}

const quoted = (keys: readonly string[]): string => keys.map(key => `"${key}"`).join(', ')

const missingGlobals = (keys: readonly string[]): ResolutionFault => ({
  reason: 'missing_globals',
  message:
    keys.length === 1
      ? `The server has no global ${quoted(keys)}, which this MCP server needs.`
      : `The server does not have the globals ${quoted(keys)}, which this MCP server needs.`,
})

/** Returns why a secret may not be sent to a URL of the resolved configuration. Commands receive every secret. */
const findRefusal = (config: UpstreamConfig, credentials: readonly Credential[]): string | undefined => {
  if (config.transport === 'stdio') return undefined
  const origins = [config.url, ...(config.urls ?? [])].flatMap(url => URL.parse(url)?.origin ?? [])
  return origins.map(origin => refuseCredentials(credentials, origin)).find(refusal => refusal !== undefined)
}

/**
 * Returns the configuration with every `{{global}}` replaced, including secrets. Use the result only for connections.
 */
export const resolveConfig = (
  config: UpstreamConfig,
  { organizationId, globals }: ServerValues,
): Result<ResolvedConfig, ResolutionFault> => {
  const compiled = compileConfig(config)
  if (!compiled.ok) {
    const reasons = compiled.error.map(({ path, message }) => `${path} ${message}`).join('; ')
    return failure({ reason: 'broken_config', message: `Its configuration cannot be used: ${reasons}.` })
  }
  const { globals: keys, findSecretAtRisk, fill } = compiled.value
  const absent = [...keys].filter(key => !globals.has(key))
  if (absent.length > 0) return failure(missingGlobals(absent))
  const risk = findSecretAtRisk(key => globals.get(key)?.credential !== undefined)
  if (risk !== undefined) return failure({ reason: 'secret_at_risk', message: `The ${risk.path} ${risk.message}.` })
  const filled = fill(key => globals.get(key)?.value ?? '')
  if (!filled.ok) return filled
  const used = [...keys].flatMap(key => globals.get(key) ?? [])
  const secrets = used.flatMap(({ value, credential }) => (credential === undefined ? [] : value))
  const credentials = used.flatMap(({ credential }) => credential ?? [])
  const refusal = findRefusal({ ...config, ...filled.value }, credentials)
  if (refusal !== undefined) return failure({ reason: 'secret_at_risk', message: `${refusal}.` })
  return success({ ...config, ...filled.value, organizationId, secrets, credentials })
}
