import type { Transaction } from '../lib/db/client.ts'
import type { Actor } from '../lib/kernel/actor.ts'
import { AppError } from '../lib/kernel/errors.ts'
import { compileConfig, globalsIn } from './config/resolve-config.ts'
import { listAllUpstreams } from './upstreams.store.ts'

/** An upstream that a global stands in. */
type UpstreamReference = { id: string; name: string }

/** The upstreams of a server that refer to globals, by the keys of these. */
export const listUpstreamsReferringTo = async (
  tx: Transaction,
  serverId: string,
): Promise<ReadonlyMap<string, readonly UpstreamReference[]>> => {
  const references = new Map<string, UpstreamReference[]>()
  for (const { id, name, config } of await listAllUpstreams(tx, serverId)) {
    for (const key of globalsIn(config)) references.set(key, [...(references.get(key) ?? []), { id, name }])
  }
  return references
}

const ofCommand = (key: string, name: string) =>
  new AppError(
    'forbidden',
    `The global "${key}" is part of the command of the upstream "${name}", which runs on this machine: only the operator of this installation may set or remove it.`,
  )

/**
 * Refuses a change of a global for the sake of the upstreams that it stands in: what a command is made of is for the
 * operator alone to say, and no secret may decide where a URL goes. `isSecret`: what it would be; undefined, gone.
 */
export const assertGlobalMayChange = async (
  tx: Transaction,
  actor: Actor,
  { serverId, key, isSecret }: { serverId: string; key: string; isSecret: boolean | undefined },
): Promise<void> => {
  for (const { name, config } of await listAllUpstreams(tx, serverId)) {
    const compiled = compileConfig(config)
    if (!compiled.ok || !compiled.value.globals.has(key)) continue
    if (config.transport === 'stdio' && !actor.isOperator) throw ofCommand(key, name)
    const risk = isSecret === true ? compiled.value.findSecretAtRisk(one => one === key) : undefined
    if (risk === undefined) continue
    throw new AppError('invalid_request', `In the upstream "${name}": the ${risk.path} ${risk.message}.`)
  }
}
