import { isAmongOrigins } from '../../lib/outbound/credentials.ts'
import { secretKeyOf } from '../../templates/check-value.ts'
import { ownedKey } from '../../tools/import/secret-values.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import type { Binding, Bindings, SecretOrigins } from '../server.ts'

/** Returns the origin of a tool's URL; undefined if a parameter decides it. */
export const writtenOrigin = (url: string): string | undefined => {
  const [written] = /^https?:\/\/[^/?#{}]+(?=[/?#]|$)/i.exec(url) ?? []
  return written === undefined ? undefined : URL.parse(written)?.origin
}

/** A global, as far as it decides whether its key is taken. The origins are those of a secret. */
type KnownKey = { key: string; isSecret: boolean; origins?: SecretOrigins['origins'] }

/**
 * Returns the key for the secret of a tool: the key itself, unless the server has a secret with it for other origins.
 * Then it begins with the label of the host that names its owner: `kestrel_api_key`.
 */
export const freeKey = (key: string, url: string, globals: readonly KnownKey[]): string => {
  const origin = writtenOrigin(url)
  const known = globals.find(one => one.key === key)
  if (origin === undefined || known?.isSecret !== true || known.origins === undefined) return key
  return isAmongOrigins(known.origins, origin) ? key : ownedKey(key, url)
}

/** Returns bindings for the parameters whose default is a secret that the server has for other origins. */
export const bindTakenKeys = (
  { url, parameters }: Pick<ToolDefinition, 'url' | 'parameters'>,
  globals: readonly KnownKey[],
): Bindings => {
  const taken = Object.entries(parameters).flatMap(([name, { binding }]): [string, Binding][] => {
    const declared = secretKeyOf(binding)
    if (declared === undefined) return []
    const key = freeKey(declared, url, globals)
    return key === declared ? [] : [[name, { source: 'server', key }]]
  })
  return Object.fromEntries(taken)
}
