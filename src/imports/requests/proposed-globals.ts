import type { FoundSecret } from '../../tools/import/draft-parameters.ts'
import { ownedKey } from '../../tools/import/secret-values.ts'
import { originPart } from '../../tools/import/url-placeholders.ts'
import { isPlaceholder } from '../../tools/secret-looks.ts'
import type { ProposedGlobal } from '../mapped-source.ts'
import { claimKey } from '../openapi/names.ts'

/** Collects the globals that the tools of a source are bound to. */
export const createProposedGlobals = () => {
  const byKey = new Map<string, Omit<ProposedGlobal, 'origins'>>()
  const origins = new Map<string, Set<string>>()
  const byValue = new Map<string, string>()
  const taken = new Set<string>()

  const isFree = (key: string, value: string | undefined): boolean => {
    const known = byKey.get(key)
    if (known === undefined) return !taken.has(key)
    return known.isSecret && (known.value === undefined || value === undefined || known.value === value)
  }

  const freeKey = (base: string, value: string | undefined): string => {
    let key = base
    for (let count = 2; !isFree(key, value); count++) key = `${base.slice(0, 58)}_${count}`
    return key
  }

  return {
    /** Returns a key that no other global has, and keeps it for the caller. */
    claim: (base: string): string => claimKey(base, taken),
    /** Returns the globals that are in use. Others were for requests that are not imported. */
    used: (): readonly ProposedGlobal[] =>
      [...byKey.values()].flatMap(global => {
        const found = origins.get(global.key)
        return found === undefined ? [] : [{ ...global, origins: global.isSecret ? [...found] : [] }]
      }),
    put: (global: Omit<ProposedGlobal, 'origins'>): void => void byKey.set(global.key, global),
    /** Notes that a tool uses a global, and where it sends it, if the origin of the URL is written out. */
    noteUse: (key: string, url: string): void => {
      const known = origins.get(key) ?? new Set()
      origins.set(key, known)
      const origin = /[{}]/.test(originPart(url)) ? undefined : URL.parse(url)?.origin
      if (origin !== undefined) known.add(origin)
    },
    /**
     * Returns the key of the secret for a value. The same value has one key. A value that only stands for one, such as
     * `<token>`, does not count. `url` is where the secret is sent.
     */
    secretKey: ({ value: found, parameter }: Pick<FoundSecret, 'value' | 'parameter'>, url: string): string => {
      const value = found === '' || isPlaceholder(found) ? undefined : found
      const known = value === undefined ? undefined : byValue.get(value)
      if (known !== undefined) return known
      const key = freeKey(ownedKey(parameter, url), value)
      byKey.set(key, { key, isSecret: true, value: value ?? byKey.get(key)?.value })
      taken.add(key)
      if (value !== undefined) byValue.set(value, key)
      return key
    },
  }
}
export type ProposedGlobals = ReturnType<typeof createProposedGlobals>
