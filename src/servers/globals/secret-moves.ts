import type { Transaction } from '../../lib/db/client.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { findMove } from '../../tools/sharing/destination.ts'
import type { Tool } from '../../tools/tool.ts'
import { globalKeysOf } from '../bindings/bindings.ts'
import { listInstancesOfTool } from '../tools/instances.store.ts'
import { listGlobals } from './globals.store.ts'

/**
 * Whoever owns a toolkit must not get the secrets of those who use it: throws `conflict` when a changed tool would send
 * to another origin what an instance of it has a secret bound to.
 */
export const assertSecretsStay = async (
  tx: Transaction,
  serverId: string,
  held: Tool,
  changed: Tool,
): Promise<void> => {
  const move = findMove(held, changed)
  if (move === undefined) return
  const secretKeys = new Set((await listGlobals(tx, serverId)).flatMap(g => (g.isSecret ? g.key : [])))
  for (const { name, bindings } of await listInstancesOfTool(tx, serverId, held.id)) {
    // Also what is bound to a parameter that the tool lost: an update can bring it back.
    for (const [parameter, binding] of Object.entries(bindings)) {
      const key = [...globalKeysOf(parameter, binding)].find(candidate => secretKeys.has(candidate))
      if (key === undefined) continue
      throw new AppError(
        'conflict',
        `The update moves the tool "${held.name}" from ${move.from} to ${move.to}, and would take the secret "${key}" ` +
          `there, which "${name}" has bound to "${parameter}": remove that binding first.`,
      )
    }
  }
}
