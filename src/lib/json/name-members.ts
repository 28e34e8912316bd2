import type { JsonValue } from '../kernel/json.ts'
import { follow, hasMembers, type Path } from './path.ts'

const MAX_NAMES = 12
const MAX_NAME_CHARACTERS = 40
/** Items whose members are named: what the first ones have, the others mostly have too. */
const LOOKED_AT = 20

const cut = (name: string): string =>
  name.length > MAX_NAME_CHARACTERS ? `${name.slice(0, MAX_NAME_CHARACTERS)}…` : name

const firstValues = (root: JsonValue, path: Path): readonly JsonValue[] =>
  path.reduce<readonly JsonValue[]>(
    (values, step) => values.flatMap(value => follow(value, step).slice(0, LOOKED_AT)).slice(0, LOOKED_AT),
    [root],
  )

/** What the items of lists at a path hold, or which members the objects there have, in a few words. */
export const nameMembers = (root: JsonValue, path: Path, what: 'items' | 'members'): string => {
  const values = firstValues(root, path)
  const holders =
    what === 'members' ? values : values.flatMap(value => (Array.isArray(value) ? value.slice(0, LOOKED_AT) : []))
  const names = new Set<string>()
  for (const holder of holders) {
    if (!hasMembers(holder)) continue
    for (const name in holder) if (names.size <= MAX_NAMES) names.add(name)
  }
  if (names.size === 0) return ''
  const shown = [...names].slice(0, MAX_NAMES).map(cut).join(', ')
  const list = names.size > MAX_NAMES ? `${shown}, …` : shown
  return what === 'items' ? `each has ${list}` : `all are ${list}`
}
