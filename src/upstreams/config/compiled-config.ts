import type { FieldError } from '../../lib/kernel/errors.ts'
import type { Result } from '../../lib/kernel/result.ts'
import type { Credential } from '../../lib/outbound/credentials.ts'
import type { RemoteConfig, StdioConfig } from '../upstream.ts'

/** A server's globals with decrypted values, by key. Secrets have a credential. */
export type DecryptedGlobals = ReadonlyMap<string, { value: string; credential: Credential | undefined }>

/** The reason that a configuration cannot be used now. `message` names globals but never contains their values. */
export type ResolutionFault = {
  reason: 'missing_globals' | 'secret_at_risk' | 'unfit_value' | 'broken_config' | 'not_allowed' | 'not_connected'
  message: string
}

/** The parsed, transport-specific part of a configuration. */
export type CompiledConfig<Config extends StdioConfig | RemoteConfig> = {
  globals: ReadonlySet<string>
  /** Returns an error if a secret is in a place where it could leak. */
  findSecretAtRisk: (isSecret: (key: string) => boolean) => FieldError | undefined
  /**
   * Returns the origins of its URLs. Leaves out those that depend on a missing global. A command has none.
   * `findValue` returns undefined for a missing global.
   */
  listOrigins: (findValue: (key: string) => string | undefined) => readonly string[]
  /** Replaces every global. `readGlobal` must have a value for each of them. */
  fill: (readGlobal: (key: string) => string) => Result<Config, ResolutionFault>
}
