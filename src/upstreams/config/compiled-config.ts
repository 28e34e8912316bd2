import type { FieldError } from '../../lib/kernel/errors.ts'
import type { Result } from '../../lib/kernel/result.ts'
import type { RemoteConfig, StdioConfig } from '../upstream.ts'

/** A global as a connection needs it: opened. */
export type OpenGlobal = { value: string; isSecret: boolean }
export type OpenGlobals = ReadonlyMap<string, OpenGlobal>

/** Why a configuration cannot become a connection now. `message` names globals and never shows a value. */
export type ResolutionFault = {
  reason: 'missing_globals' | 'secret_at_risk' | 'unfit_value' | 'broken_config' | 'not_allowed' | 'not_connected'
  message: string
}

/** The transport's part of a configuration, understood once. */
export type CompiledConfig<Config extends StdioConfig | RemoteConfig> = {
  /** Keys of all globals that stand in it. */
  globals: ReadonlySet<string>
  /** Where a secret would stand that may not, given which globals are secrets. */
  findSecretAtRisk: (isSecret: (key: string) => boolean) => FieldError | undefined
  /** With every global there is; `readGlobal` has them all. */
  fill: (readGlobal: (key: string) => string) => Result<Config, ResolutionFault>
}
