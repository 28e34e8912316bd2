import type { Transaction } from '../../lib/db/client.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { findMove } from '../../tools/sharing/destination.ts'
import type { Tool } from '../../tools/tool.ts'
import { globalKeysOf } from '../bindings/bindings.ts'
import { listInstancesOfTool } from '../tools/instances.store.ts'
import { listGlobals } from './globals.store.ts'

/**
 * Throws `conflict` if a changed tool would send a bound secret to another origin. The owner of a toolkit must not be
 * able to get secrets of its users.
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
    // Includes parameters that the tool no longer has, because an update can bring them back.
    for (const [parameter, binding] of Object.entries(bindings)) {
      const key = [...globalKeysOf(parameter, binding)].find(candidate => secretKeys.has(candidate))
      if (key === undefined) continue
      throw new AppError(
        'conflict',
        `The update moves the tool "${held.name}" from ${move.from} to ${move.to}. The secret "${key}", which "${name}" ` +
          `binds to "${parameter}", would be sent there. Remove that binding first.`,
      )
    }
  }
}
