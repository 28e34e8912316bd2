import { isDeepStrictEqual } from 'node:util'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { UpstreamConfig } from '../upstream.ts'

/** Throws if the actor may not run commands on this machine. */
export const assertMayRunCommands = (actor: Actor, { allowStdio }: { allowStdio: boolean }): void => {
  if (!actor.isOperator) {
    throw new AppError('forbidden', 'Only the operator of this installation can attach a command.')
  }
  if (!allowStdio) {
    const message = 'Commands cannot be attached because PATCHBAY_ALLOW_STDIO is not true.'
    throw new AppError('forbidden', message)
  }
}

const commandOf = (config: UpstreamConfig): unknown =>
  config.transport === 'stdio' ? [config.command, config.args, config.env, config.cwd] : undefined

type Configured = { config: UpstreamConfig; isEnabled: boolean }

/** Returns whether a change runs a different command or starts a command. */
export const startsNewCommand = (before: Configured, after: Configured): boolean => {
  if (after.config.transport !== 'stdio') return false
  return !isDeepStrictEqual(commandOf(before.config), commandOf(after.config)) || (after.isEnabled && !before.isEnabled)
}
