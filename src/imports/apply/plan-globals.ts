import { isAmongOrigins } from '../../lib/outbound/credentials.ts'
import { ownedKey } from '../../tools/import/secret-values.ts'

/** A global that imported tools are bound to. `origins` are those that the tools send it to, as far as they are known. */
export type WantedGlobal = {
  key: string
  isSecret: boolean
  value: string | undefined
  origins: readonly string[]
}

/** A global of the server. A secret has origins instead of a value, which nothing may depend on. */
export type ServerGlobal =
  | { key: string; isSecret: false; value: string }
  | { key: string; isSecret: true; origins: readonly string[] }

export type ServerKeys = {
  globals: readonly ServerGlobal[]
  /** Keys that the server uses although there is no such global yet, with the origins that are known to be meant. */
  awaited: ReadonlyMap<string, readonly string[]>
}

export type GlobalPlan = {
  /** The keys on the server by the keys that the tools name. */
  keys: ReadonlyMap<string, string>
  /** Globals to create, under their keys on the server. */
  created: readonly (WantedGlobal & { value: string })[]
  /** Globals that have no value yet, under their keys on the server. */
  missing: readonly WantedGlobal[]
}

const MAX_KEY_CHARS = 64

const areAmong = (allowed: readonly string[], origins: readonly string[]): boolean =>
  origins.length > 0 && origins.every(origin => isAmongOrigins(allowed, origin))

/**
 * Returns whether tools may share a key that the server has. A secret is shared only with the same API, and only if no
 * other value was entered for it: a stored secret is never replaced, as other tools use it.
 */
const mayShare = (known: ServerGlobal, { isSecret, value, origins }: WantedGlobal): boolean => {
  if (known.isSecret) return isSecret && value === undefined && areAmong(known.origins, origins)
  return !isSecret && known.value === value
}

function* candidatesOf({ key, value, origins }: WantedGlobal): Generator<string> {
  yield key
  const owned = ownedKey(key, origins[0] ?? value ?? '')
  if (owned !== key) yield owned
  for (let number = 2; ; number++) {
    const ending = `_${number}`
    yield `${owned.slice(0, MAX_KEY_CHARS - ending.length)}${ending}`
  }
}

/**
 * Decides under which key of a server each global is kept: its own, unless the server uses that for something else. So
 * two APIs never share a secret.
 */
export const planGlobals = (wanted: readonly WantedGlobal[], { globals, awaited }: ServerKeys): GlobalPlan => {
  const known = new Map(globals.map(global => [global.key, global]))
  const keys = new Map<string, string>()
  const claimed = new Set<string>()
  const created: (WantedGlobal & { value: string })[] = []
  const missing: WantedGlobal[] = []

  const isFree = (key: string, global: WantedGlobal): boolean => {
    if (claimed.has(key)) return false
    const there = known.get(key)
    if (there !== undefined) return mayShare(there, global)
    const meant = awaited.get(key)
    return meant === undefined || (global.isSecret && areAmong(global.origins, meant))
  }
  const findKey = (global: WantedGlobal): string => {
    for (const key of candidatesOf(global)) if (isFree(key, global)) return key
    throw new Error('there is always a free key')
  }

  for (const global of wanted) {
    const key = findKey(global)
    claimed.add(key)
    keys.set(global.key, key)
    if (known.has(key)) continue
    if (global.value === undefined) missing.push({ ...global, key })
    else created.push({ ...global, key, value: global.value })
  }
  return { keys, created, missing }
}
