import type { JsonValue } from '../lib/kernel/json.ts'
import { type Complaint, HOLE } from './scan.ts'
import type { Place, RenderError, Values } from './template.ts'

/** What a part of a request comes to: its text, nothing since an optional value is missing, or a refusal. */
export type Outcome = string | undefined | RenderError
/** Refuses a value that takes it beyond `room`, in characters. */
export type Part = (values: Values, room: number) => Outcome

/** What a value becomes in one place; `encode` answers undefined to a value that may not stand there. */
export type Hole = {
  kind: Place['kind']
  encode: (value: JsonValue) => string | undefined
  /** Follows the parameter's name: `must be …`. */
  refusal: string
  /** What a missing optional value comes to: empty text, or nothing, which takes along what is around it. */
  whenMissing: '' | undefined
}

/** A text understood: what each of its places is, and how it is put together again. */
export type FieldPlan = {
  /** One for each place, in their order; undefined where no place is allowed, and complained of. */
  holes: readonly (Hole | undefined)[]
  complaints: readonly Complaint[]
  /** `partOf` gives the part that fills the place of that number. */
  build: (partOf: (place: number) => Part) => Part
}

/** Chunks of fixed text with a part between each two; nothing as soon as one part is nothing. */
export const sequence = (chunks: readonly string[], parts: readonly Part[]): Part => {
  const [first = '', ...rest] = chunks
  const steps = parts.map((part, index) => ({ part, after: rest[index] ?? '' }))
  if (steps.length === 0) return () => first
  return (values, room) => {
    let text = first
    for (const { part, after } of steps) {
      const outcome = part(values, room - text.length)
      if (typeof outcome !== 'string') return outcome
      text += outcome + after
    }
    return text
  }
}

/** A masked text whose first place has the number `firstPlace`. */
export const line = (masked: string, firstPlace: number, partOf: (place: number) => Part): Part => {
  const chunks = masked.split(HOLE)
  return sequence(
    chunks,
    chunks.slice(1).map((_, index) => partOf(firstPlace + index)),
  )
}

/** The parts that came to something, in a frame; `whenEmpty` stands for the whole when none did. */
export const joined = (
  parts: readonly Part[],
  frame: { open: string; separator: string; close: string; whenEmpty: string },
): Part => {
  const { open, separator, close, whenEmpty } = frame
  return (values, room) => {
    let text: string | undefined
    for (const part of parts) {
      const outcome = part(values, room - (text?.length ?? 0))
      if (outcome === undefined) continue
      if (typeof outcome !== 'string') return outcome
      text = text === undefined ? open + outcome : text + separator + outcome
    }
    return text === undefined ? whenEmpty : text + close
  }
}
