import type { JsonValue } from '../lib/kernel/json.ts'
import { type Fault, HOLE } from './scan.ts'
import type { Place, RenderError, Values } from './template.ts'

/** The outcome of rendering a part: its text, undefined if an optional value is missing, or an error. */
export type Outcome = string | undefined | RenderError
/** Renders a part. Rejects a value that would exceed `room` characters. */
export type Part = (values: Values, room: number) => Outcome

/** How a value is encoded in one position; `encode` returns undefined for a value that is not allowed there. */
export type Hole = {
  kind: Place['kind']
  encode: (value: JsonValue) => string | undefined
  /** Completes a sentence that starts with the parameter's name: `must be …`. */
  refusal: string
  /** Result for a missing optional value: empty text, or undefined to remove what surrounds it. */
  whenMissing: '' | undefined
}

/** A parsed field: the encoding of each placeholder, and how to assemble the text. */
export type FieldPlan = {
  /** One for each placeholder, in order; undefined where none is allowed, which is also reported as a fault. */
  holes: readonly (Hole | undefined)[]
  faults: readonly Fault[]
  /** `partOf` returns the part for the placeholder with this index. */
  build: (partOf: (place: number) => Part) => Part
}

/** Joins chunks of fixed text with a part between each two. Undefined as soon as one part is undefined. */
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

/** Builds masked text whose first placeholder has the index `firstPlace`. */
export const line = (masked: string, firstPlace: number, partOf: (place: number) => Part): Part => {
  const chunks = masked.split(HOLE)
  return sequence(
    chunks,
    chunks.slice(1).map((_, index) => partOf(firstPlace + index)),
  )
}

/** Joins the parts that are defined, with a frame; returns `whenEmpty` if there are none. */
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
