import { isAmongOrigins } from '../../lib/outbound/credentials.ts'
import { ownedKey } from '../../tools/import/secret-values.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import type { Binding, Bindings, Global } from '../server.ts'

/** Returns the origin of a tool's URL; undefined if a parameter decides it. */
const originOf = (url: string): string | undefined => {
  const [written] = /^https?:\/\/[^/?#{}]+(?=[/?#]|$)/i.exec(url) ?? []
  return written === undefined ? undefined : URL.parse(written)?.origin
}

/**
 * Returns bindings for the parameters whose default is a secret that the server has for other origins. Their key begins
 * with the label of the host that names its owner: `kestrel_api_key`.
 */
export const bindTakenKeys = (
  { url, parameters }: Pick<ToolDefinition, 'url' | 'parameters'>,
  globals: readonly Global[],
): Bindings => {
  const origin = originOf(url)
  if (origin === undefined) return {}
  const isTaken = (key: string): boolean => {
    const global = globals.find(one => one.key === key)
    return global?.isSecret === true && global.origins !== undefined && !isAmongOrigins(global.origins, origin)
  }
  const taken = Object.entries(parameters).flatMap(([name, { binding }]): [string, Binding][] =>
    binding?.secret === true && isTaken(binding.key)
      ? [[name, { source: 'server', key: ownedKey(binding.key, url) }]]
      : [],
  )
  return Object.fromEntries(taken)
}
