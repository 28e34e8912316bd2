import type { FieldError } from '../../lib/kernel/errors.ts'
import type { Result } from '../../lib/kernel/result.ts'
import type { RemoteConfig, StdioConfig } from '../upstream.ts'

/** A server's globals with decrypted values, by key. */
export type DecryptedGlobals = ReadonlyMap<string, { value: string; isSecret: boolean }>

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
  /** Replaces every global. `readGlobal` must have a value for each of them. */
  fill: (readGlobal: (key: string) => string) => Result<Config, ResolutionFault>
}
