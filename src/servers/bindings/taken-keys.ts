import type { Transaction } from '../../lib/db/client.ts'
import { isAmongOrigins } from '../../lib/outbound/credentials.ts'
import { secretKeyOf } from '../../templates/check-value.ts'
import { ownedKey } from '../../tools/import/secret-values.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import { listBoundOrigins } from '../origins/bound-origins.store.ts'
import type { Binding, Bindings, SecretOrigins } from '../server.ts'

/** Returns the origin of a tool's URL; undefined if a parameter decides it. */
export const writtenOriginOf = (url: string): string | undefined => {
  const [written] = /^https?:\/\/[^/?#{}]+(?=[/?#]|$)/i.exec(url) ?? []
  return written === undefined ? undefined : URL.parse(written)?.origin
}

/** A global, as far as it decides whether its key is taken. The origins are those of a secret. */
type KnownKey = { key: string; isSecret: boolean; origins?: SecretOrigins['origins'] }

/**
 * Returns the key for the secret of a tool: the key itself, unless it is that of a global that is not secret, or of a
 * secret for other origins. Then it begins with the label of the host that names its owner: `kestrel_api_key`.
 */
export const freeKey = (key: string, url: string, globals: readonly KnownKey[]): string => {
  const origin = writtenOriginOf(url)
  const known = globals.find(one => one.key === key)
  if (origin === undefined || known === undefined) return key
  const { isSecret, origins = [] } = known
  return isSecret && (origins.length === 0 || isAmongOrigins(origins, origin)) ? key : ownedKey(key, url)
}

/**
 * Returns bindings for the parameters whose default is a secret with a key that is taken: by a global, or by tools of
 * other origins that are bound to it before it exists.
 */
export const bindTakenKeys = async (
  tx: Transaction,
  serverId: string,
  { url, parameters }: Pick<ToolDefinition, 'url' | 'parameters'>,
  globals: readonly KnownKey[],
): Promise<Bindings> => {
  const taken: Record<string, Binding> = {}
  for (const [name, { binding }] of Object.entries(parameters)) {
    const declared = secretKeyOf(binding)
    if (declared === undefined) continue
    const known = globals.find(one => one.key === declared)
    const bound = known === undefined ? await listBoundOrigins(tx, serverId, declared) : []
    const origins = bound.map(({ origin }) => origin)
    const key = freeKey(declared, url, [known ?? { key: declared, isSecret: true, origins }])
    if (key !== declared) taken[name] = { source: 'server', key }
  }
  return taken
}
