import type { Transaction } from '../../lib/db/client.ts'
import { isAmongOrigins } from '../../lib/outbound/credentials.ts'
import { ownedKey } from '../../tools/import/secret-values.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import { listBoundOrigins } from '../origins/bound-origins.store.ts'
import type { Binding, Bindings, Global } from '../server.ts'

/** Returns the origin of a tool's URL; undefined if a parameter decides it. */
export const writtenOriginOf = (url: string): string | undefined => {
  const [written] = /^https?:\/\/[^/?#{}]+(?=[/?#]|$)/i.exec(url) ?? []
  return written === undefined ? undefined : URL.parse(written)?.origin
}

/**
 * Returns whether a secret for this origin needs another key: the key is that of a global that is not secret, or of a
 * secret for other origins, or only tools of other origins are bound to it so far.
 */
const isTaken = async (
  tx: Transaction,
  serverId: string,
  { key, origin, globals }: { key: string; origin: string; globals: readonly Global[] },
): Promise<boolean> => {
  const global = globals.find(one => one.key === key)
  if (global?.isSecret === false) return true
  const bound = global === undefined ? await listBoundOrigins(tx, serverId, key) : []
  const origins = global === undefined ? bound.map(one => one.origin) : (global.origins ?? [])
  return origins.length > 0 && !isAmongOrigins(origins, origin)
}

/**
 * Returns bindings for the parameters whose default is a secret with a key that is taken. Their key begins with the label
 * of the host that names its owner: `kestrel_api_key`.
 */
export const bindTakenKeys = async (
  tx: Transaction,
  serverId: string,
  { url, parameters }: Pick<ToolDefinition, 'url' | 'parameters'>,
  globals: readonly Global[],
): Promise<Bindings> => {
  const origin = writtenOriginOf(url)
  const taken: Record<string, Binding> = {}
  for (const [name, { binding }] of Object.entries(parameters)) {
    if (origin === undefined || binding?.secret !== true) continue
    const { key } = binding
    if (await isTaken(tx, serverId, { key, origin, globals }))
      taken[name] = { source: 'server', key: ownedKey(key, url) }
  }
  return taken
}
