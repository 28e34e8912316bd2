import type { JsonValue } from '../kernel/json.ts'
import { follow, hasMembers, type Path } from './path.ts'

const MAX_NAMES = 12
const MAX_NAME_CHARACTERS = 40
/** Items whose members are listed: the others are usually alike. */
const MAX_ITEMS = 20

const cut = (name: string): string =>
  name.length > MAX_NAME_CHARACTERS ? `${name.slice(0, MAX_NAME_CHARACTERS)}…` : name

const firstValues = (root: JsonValue, path: Path): readonly JsonValue[] =>
  path.reduce<readonly JsonValue[]>(
    (values, step) => values.flatMap(value => follow(value, step).slice(0, MAX_ITEMS)).slice(0, MAX_ITEMS),
    [root],
  )

/** Lists in a few words the members of the objects at a path, or of the items of the arrays there. */
export const nameMembers = (root: JsonValue, path: Path, what: 'items' | 'members'): string => {
  const values = firstValues(root, path)
  const holders =
    what === 'members' ? values : values.flatMap(value => (Array.isArray(value) ? value.slice(0, MAX_ITEMS) : []))
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
