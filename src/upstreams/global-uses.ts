import type { Transaction } from '../lib/db/client.ts'
import type { Actor } from '../lib/kernel/actor.ts'
import { AppError } from '../lib/kernel/errors.ts'
import { compileConfig, keysOfConfig } from './config/resolve-config.ts'
import { listAllUpstreams } from './upstreams.store.ts'

/** Returns the upstreams that use globals, keyed by global. */
export const listUpstreamsReferringTo = async (
  tx: Transaction,
  serverId: string,
): Promise<ReadonlyMap<string, readonly { id: string; name: string }[]>> => {
  const references = new Map<string, { id: string; name: string }[]>()
  for (const { id, name, config } of await listAllUpstreams(tx, serverId)) {
    for (const key of keysOfConfig(config)) references.set(key, [...(references.get(key) ?? []), { id, name }])
  }
  return references
}

const operatorOnly = (key: string, name: string) =>
  new AppError(
    'forbidden',
    `The MCP server "${name}" uses the global "${key}" in its command, so only the operator of this installation can set or remove it.`,
  )

/**
 * Throws if an upstream that uses a global forbids changing it: only the operator decides what a command contains, and
 * no secret may determine a URL's origin. `isSecret` is the new state; undefined if the global is removed.
 */
export const assertGlobalMayChange = async (
  tx: Transaction,
  actor: Actor,
  { serverId, key, isSecret }: { serverId: string; key: string; isSecret: boolean | undefined },
): Promise<void> => {
  for (const { name, config } of await listAllUpstreams(tx, serverId)) {
    const compiled = compileConfig(config)
    if (!compiled.ok || !compiled.value.globals.has(key)) continue
    if (config.transport === 'stdio' && !actor.isOperator) throw operatorOnly(key, name)
    const risk = isSecret === true ? compiled.value.findSecretAtRisk(one => one === key) : undefined
    if (risk === undefined) continue
    throw new AppError('invalid_request', `In the MCP server "${name}", the ${risk.path} ${risk.message}.`)
  }
}
