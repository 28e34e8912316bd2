import type { JsonValue } from '../kernel/json.ts'
import { hasMembers, indexOfName, type Path, valuesAt } from './path.ts'
import type { Trail } from './trail.ts'

const visitStep = (value: JsonValue, path: Path, at: number, trail: Trail, visit: (value: JsonValue) => void): void => {
  const step = path[at]
  if (step === undefined) {
    visit(value)
    return
  }
  const visitChild = (child: JsonValue, key: string | number, next: number): void => {
    trail.push({ key, value: child })
    visitStep(child, path, next, trail, visit)
    trail.pop()
  }
  if (Array.isArray(value)) {
    const index = step.kind === 'item' ? step.index : step.kind === 'member' ? indexOfName(step.name) : undefined
    if (index !== undefined) {
      const item = value.at(index)
      if (item !== undefined) visitStep(item, path, at + 1, trail, visit)
      return
    }
    // A name that is applied to an array is applied to each of its items.
    const next = step.kind === 'member' ? at : at + 1
    for (const [position, item] of value.entries()) visitChild(item, position, next)
  } else if (hasMembers(value)) {
    if (step.kind === 'any') for (const name of Object.keys(value)) visitChild(value[name] ?? null, name, at + 1)
    else if (step.kind === 'member' && Object.hasOwn(value, step.name)) {
      visitStep(value[step.name] ?? null, path, at + 1, trail, visit)
    }
  }
}

/**
 * Visits the values that a path leads to. During each visit, `trail` has the names and indexes that the path leaves open,
 * unless the path has a `**`.
 */
export const visitAt = (root: JsonValue, path: Path, trail: Trail, visit: (value: JsonValue) => void): void => {
  if (path.some(({ kind }) => kind === 'deep')) for (const value of valuesAt(root, path)) visit(value)
  else visitStep(root, path, 0, trail, visit)
}
