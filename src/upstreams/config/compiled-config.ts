import type { FieldError } from '../../lib/kernel/errors.ts'
import type { Result } from '../../lib/kernel/result.ts'
import type { RemoteConfig, StdioConfig } from '../upstream.ts'

/** A server's globals with decrypted values, by key. */
export type DecryptedGlobals = ReadonlyMap<string, { value: string; isSecret: boolean }>

/** Why a configuration cannot be used now. `message` names globals, but never contains their values. */
export type ResolutionFault = {
  reason: 'missing_globals' | 'secret_at_risk' | 'unfit_value' | 'broken_config' | 'not_allowed' | 'not_connected'
  message: string
}

/** The parsed part of a configuration that depends on the transport. */
export type CompiledConfig<Config extends StdioConfig | RemoteConfig> = {
  globals: ReadonlySet<string>
  /** Returns the error for a secret in a place where it could leak, if there is one. */
  findSecretAtRisk: (isSecret: (key: string) => boolean) => FieldError | undefined
  /** Replaces every global. `readGlobal` must have all of them. */
  fill: (readGlobal: (key: string) => string) => Result<Config, ResolutionFault>
}
