import type { JsonValue } from '../../kernel/index.ts'
import { findExactNumber } from '../answers/exact-numbers.ts'
import { hasMembers } from '../answers/path.ts'

/** Where a value stands in its document; the document itself has no `parent`. */
export type Place = {
  readonly parent: Place | undefined
  readonly key: string | number
  readonly value: JsonValue
  /** Characters of all texts below. */
  size: number
}

/** One text that can be found: a value that is no list and no object, or the name of a field where it first occurs. */
export type Leaf = { readonly text: string; readonly place: Place; readonly isName: boolean }

export type Leaves = {
  /** Values in the order of the document. */
  readonly values: readonly Leaf[]
  /** Names in the order of the document, each path once: `users[].name` is one, however many users there are. */
  readonly names: readonly Leaf[]
}

/** What all items of a list have in common: by it a name is listed once. */
type Shape = { fields: Map<string, Shape>; items: Shape | undefined }

const newShape = (): Shape => ({ fields: new Map(), items: undefined })

/** All that can be found in a JSON value, null and the empty left out; by recursion, as documents are not deep. */
export const readLeaves = (root: JsonValue): Leaves => {
  const values: Leaf[] = []
  const names: Leaf[] = []

  const readMember = (key: string, value: JsonValue, parent: Place, shape: Shape): number => {
    const place: Place = { parent, key, value, size: 0 }
    let below = shape.fields.get(key)
    if (below === undefined) {
      below = newShape()
      shape.fields.set(key, below)
      names.push({ text: key, place, isName: true })
    }
    return read(place, below)
  }
  const read = (place: Place, shape: Shape): number => {
    const { value } = place
    let size = 0
    const exact = findExactNumber(value)
    if (exact !== undefined) {
      values.push({ text: exact, place, isName: false })
      size = exact.length
    } else if (Array.isArray(value)) {
      shape.items ??= newShape()
      for (let index = 0; index < value.length; index++) {
        size += read({ parent: place, key: index, value: value[index] ?? null, size: 0 }, shape.items)
      }
    } else if (hasMembers(value)) {
      for (const key of Object.keys(value)) {
        const member = value[key]
        if (member !== undefined) size += readMember(key, member, place, shape)
      }
    } else if (value !== null && value !== '') {
      const text = typeof value === 'string' ? value : String(value)
      values.push({ text, place, isName: false })
      size = text.length
    }
    place.size = size
    return size
  }
  read({ parent: undefined, key: '', value: root, size: 0 }, newShape())
  return { values, names }
}
