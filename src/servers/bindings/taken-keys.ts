import type { Database, Transaction } from '../../lib/db/client.ts'
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

/** Origins by key. */
type Claims = ReadonlyMap<string, ReadonlySet<string>>

/**
 * Same as `freeKey`, but a key is also taken if tools of other origins are bound to it before it has any. `claimed` are
 * the origins of tools that are being bound.
 */
export const findFreeKey = async (
  db: Database | Transaction,
  serverId: string,
  { key, url }: { key: string; url: string },
  globals: readonly KnownKey[],
  claimed: Claims = new Map(),
): Promise<string> => {
  const claims = [...(claimed.get(key) ?? [])]
  const known = globals.find(one => one.key === key)
  if (known !== undefined) return freeKey(key, url, [known.origins?.length ? known : { ...known, origins: claims }])
  const bound = await listBoundOrigins(db, serverId, key)
  return freeKey(key, url, [{ key, isSecret: true, origins: [...bound.map(({ origin }) => origin), ...claims] }])
}

/**
 * Creates a function that returns bindings for the parameters of a tool whose default is a secret with a key that is
 * taken (see `findFreeKey`), also by a tool that it was called with before.
 */
export const createTakenKeys = (tx: Transaction, serverId: string, globals: readonly KnownKey[]) => {
  const claimed = new Map<string, Set<string>>()
  return async ({ url, parameters }: Pick<ToolDefinition, 'url' | 'parameters'>): Promise<Bindings> => {
    const origin = writtenOriginOf(url)
    const taken: Record<string, Binding> = {}
    for (const [name, { binding }] of Object.entries(parameters)) {
      const declared = secretKeyOf(binding)
      if (declared === undefined) continue
      const key = await findFreeKey(tx, serverId, { key: declared, url }, globals, claimed)
      if (key !== declared) taken[name] = { source: 'server', key }
      if (origin !== undefined) claimed.set(key, (claimed.get(key) ?? new Set()).add(origin))
    }
    return taken
  }
}
