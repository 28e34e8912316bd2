import type { JsonValue } from '../../kernel/index.ts'
import { hasMembers } from '../answers/path.ts'
import type { FieldPath } from './field-path.ts'

/** What is left of a path where one is in a value. */
type Rest = FieldPath

type Met = { isDropped: boolean; rests: Rest[] }

/** What a member of this name, or an item of a list, leaves of the paths; a list is passed by names as if it were not there. */
const meet = (rests: readonly Rest[], key: string | undefined): Met => {
  const met: Met = { isDropped: false, rests: [] }
  const take = (rest: Rest): void => {
    if (rest.length === 0) met.isDropped = true
    else met.rests.push(rest)
  }
  for (const rest of rests) {
    const [step, next] = rest
    if (step?.kind === 'deep') {
      met.rests.push(rest)
      const isMet = next?.kind === 'any' || (key === undefined ? next?.kind === 'items' : isNamed(next, key))
      if (isMet) take(rest.slice(2))
    } else if (key === undefined && step?.kind === 'name') met.rests.push(rest)
    else if (step?.kind === 'any' || (key === undefined ? step?.kind === 'items' : isNamed(step, key))) {
      take(rest.slice(1))
    }
  }
  return met
}

const isNamed = (step: FieldPath[number] | undefined, key: string): boolean =>
  step?.kind === 'name' && step.name === key

/** The value without what the paths lead to; parts that no path leads into are those of the value itself. */
export const dropFields = (value: JsonValue, paths: readonly FieldPath[]): JsonValue => {
  if (paths.length === 0) return value
  if (Array.isArray(value)) {
    const { isDropped, rests } = meet(paths, undefined)
    if (isDropped) return []
    return rests.length === 0 ? value : value.map(item => dropFields(item, rests))
  }
  if (!hasMembers(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => {
      const { isDropped, rests } = meet(paths, key)
      return isDropped ? [] : [[key, dropFields(member, rests)]]
    }),
  )
}
