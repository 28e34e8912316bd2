import { failure, type Result, success } from '../../lib/kernel/result.ts'

/** One step of a path: a named member, every item of a list, every member or item, or any depth. */
export type PathStep = { kind: 'name'; name: string } | { kind: 'items' } | { kind: 'any' } | { kind: 'deep' }
export type FieldPath = readonly PathStep[]

/** What is wrong with a path, and at which column (starting at 1). */
export type PathFault = { column: number; message: string }

/** A name, `*`, `**`, `[]`, `[*]` or `["a name"]`. A dot precedes each step but the first and those in brackets. */
const STEP = /(\*\*|\*)|\[\*?\]|\[("(?:[^"\\]|\\.)*")\]|([^.[\]*"\s]+)/y

const stepOf = (match: RegExpExecArray): PathStep | undefined => {
  const [whole, stars, quoted, name] = match
  if (stars !== undefined) return { kind: stars === '**' ? 'deep' : 'any' }
  if (name !== undefined) return { kind: 'name', name }
  if (quoted === undefined) return whole.startsWith('[') ? { kind: 'items' } : undefined
  try {
    return { kind: 'name', name: String(JSON.parse(quoted)) }
  } catch {
    return undefined
  }
}

/** Parses a path such as `users[].address.*`, `**.links` or `meta["odd name"]`. */
export const parseFieldPath = (text: string): Result<FieldPath, PathFault> => {
  const steps: PathStep[] = []
  let at = 0
  while (at < text.length) {
    const isDotted = text[at] === '.'
    if (isDotted && at === 0) return failure({ column: 1, message: 'a path starts with a name' })
    const from = isDotted ? at + 1 : at
    STEP.lastIndex = from
    const match = STEP.exec(text)
    const step = match === null ? undefined : stepOf(match)
    const needsDot = at > 0 && !isDotted && text[at] !== '['
    if (match === null || step === undefined || needsDot) {
      const expected = 'write a path like items[].name, *.links, **.id or meta["odd name"]'
      return failure({ column: from + 1, message: expected })
    }
    steps.push(step)
    at = STEP.lastIndex
  }
  const last = steps.at(-1)
  if (last === undefined) return failure({ column: 1, message: 'is empty' })
  if (last.kind === 'deep') return failure({ column: text.length, message: 'add the field to leave out after **' })
  return success(steps)
}
