import { isDeepStrictEqual } from 'node:util'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { UpstreamConfig } from '../upstream.ts'

/** Refuses everybody who may not have a command run on this machine. */
export const assertMayRunCommands = (actor: Actor, { allowStdio }: { allowStdio: boolean }): void => {
  if (!actor.isOperator) {
    throw new AppError('forbidden', 'Only the operator of this installation may attach a command of its machine.')
  }
  if (!allowStdio) {
    const message = 'Commands of this machine cannot be attached: PATCHBAY_ALLOW_STDIO is not true.'
    throw new AppError('forbidden', message)
  }
}

const processOf = (config: UpstreamConfig): unknown =>
  config.transport === 'stdio' ? [config.command, config.args, config.env, config.cwd] : undefined

type Runnable = { config: UpstreamConfig; isEnabled: boolean }

/** Whether a change makes this machine run what it did not run before. */
export const startsSomethingNew = (before: Runnable, after: Runnable): boolean => {
  if (after.config.transport !== 'stdio') return false
  return !isDeepStrictEqual(processOf(before.config), processOf(after.config)) || (after.isEnabled && !before.isEnabled)
}
