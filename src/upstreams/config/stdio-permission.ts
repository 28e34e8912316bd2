import { isDeepStrictEqual } from 'node:util'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { Upstream, UpstreamConfig } from '../upstream.ts'

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

/** Throws if one of a server's upstreams is a command and the actor is not the operator. */
export const assertMayMoveCommands = (actor: Actor, upstreams: readonly Pick<Upstream, 'name' | 'config'>[]): void => {
  const command = upstreams.find(({ config }) => config.transport === 'stdio')
  if (command === undefined || actor.isOperator) return
  const message =
    `The MCP server "${command.name}" runs a command on this machine, so only the operator of this installation can ` +
    'move this server to another organization. Remove it first, or ask the operator.'
  throw new AppError('forbidden', message)
}

const commandOf = (config: UpstreamConfig): unknown =>
  config.transport === 'stdio' ? [config.command, config.args, config.env, config.cwd] : undefined

type Configured = { config: UpstreamConfig; isEnabled: boolean }

/** Returns whether a change runs a different command or starts a command. */
export const startsNewCommand = (before: Configured, after: Configured): boolean => {
  if (after.config.transport !== 'stdio') return false
  return !isDeepStrictEqual(commandOf(before.config), commandOf(after.config)) || (after.isEnabled && !before.isEnabled)
}
