import { hasMembers } from '../../lib/json/path.ts'
import type { JsonValue } from '../../lib/kernel/json.ts'
import type { FieldPath } from '../../tools/response/field-path.ts'

/** What is left of a path where one is in a value; `path`: of which. */
type Rest = { path: number; steps: FieldPath }

type Met = { isDropped: boolean; rests: Rest[] }

const isNamed = (step: FieldPath[number] | undefined, key: string): boolean =>
  step?.kind === 'name' && step.name === key

/** What a member of this name, or an item of a list, leaves of the paths; a list is passed by names as if it were not there. */
const meet = (rests: readonly Rest[], key: string | undefined): Met => {
  const met: Met = { isDropped: false, rests: [] }
  // Several ways lead to the same rest, by more and more with each level: it is held once.
  const keep = (rest: Rest): void => {
    const isKnown = met.rests.some(({ path, steps }) => path === rest.path && steps.length === rest.steps.length)
    if (!isKnown) met.rests.push(rest)
  }
  const take = ({ path, steps }: Rest, length: number): void => {
    if (steps.length === length) met.isDropped = true
    else keep({ path, steps: steps.slice(length) })
  }
  for (const rest of rests) {
    const [step, next] = rest.steps
    if (step?.kind === 'deep') {
      keep(rest)
      const isMet = next?.kind === 'any' || (key === undefined ? next?.kind === 'items' : isNamed(next, key))
      if (isMet) take(rest, 2)
    } else if (key === undefined && step?.kind === 'name') keep(rest)
    else if (step?.kind === 'any' || (key === undefined ? step?.kind === 'items' : isNamed(step, key))) {
      take(rest, 1)
    }
  }
  return met
}

const drop = (value: JsonValue, within: readonly Rest[]): JsonValue => {
  if (Array.isArray(value)) {
    const { isDropped, rests } = meet(within, undefined)
    if (isDropped) return []
    return rests.length === 0 ? value : value.map(item => drop(item, rests))
  }
  if (!hasMembers(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => {
      const { isDropped, rests } = meet(within, key)
      if (isDropped) return []
      return [[key, rests.length === 0 ? member : drop(member, rests)]]
    }),
  )
}

/** The value without what the paths lead to; parts that no path leads into are those of the value itself. */
export const dropFields = (value: JsonValue, paths: readonly FieldPath[]): JsonValue =>
  paths.length === 0
    ? value
    : drop(
        value,
        paths.map((steps, path) => ({ path, steps })),
      )
