import type { JsonValue } from '../lib/kernel/json.ts'
import { MAX_RENDERED_BODY_CHARS, MAX_RENDERED_LINE_CHARS } from './limits.ts'
import { type Fault, HOLE, type Scan } from './scan.ts'
import type { Place, RenderError, Values } from './template.ts'

/** A rendered part: its text, an error, or undefined if an optional value is missing. */
export type Rendered = string | undefined | RenderError
/** Renders a part. Its placeholders reject values that would exceed `room` characters (`fillPlace` in render.ts). */
export type Part = (values: Values, room: number) => Rendered

/** How a value is encoded in one position. `encode` returns undefined for a value that is not allowed there. */
export type Hole = {
  kind: Place['kind']
  encode: (value: JsonValue) => string | undefined
  /** The rest of a sentence that starts with the parameter's name, such as `must be …`. */
  refusal: string
  /**
   * What a missing optional value renders to. Empty text, or undefined to remove the surrounding pair, header or
   * member.
   */
  whenMissing: '' | undefined
  /** Whether a value counts as missing, such as an empty list. */
  isEmpty?: (value: JsonValue) => boolean
}

const NEVER_MISSING: ReadonlySet<Place['kind']> = new Set(['base', 'host', 'path'])

/** Returns whether a position may be left out. Without one of its parts, a URL would be another one. */
export const canBeMissing = (kind: Place['kind']): boolean => !NEVER_MISSING.has(kind)

const IN_BODY: ReadonlySet<Place['kind']> = new Set([
  'json',
  'json-string',
  'form',
  'text',
  'xml',
  'xml-document',
  'multipart',
])

/** Returns the maximum length of the rendered field that has such a hole. */
export const maxCharsOf = (kind: Place['kind']): number =>
  IN_BODY.has(kind) ? MAX_RENDERED_BODY_CHARS : MAX_RENDERED_LINE_CHARS

/** A parsed field, with the encoding of each placeholder and a function that assembles the text. */
export type FieldPlan = {
  /** One for each placeholder, in order. Undefined where none is allowed, which is also a fault. */
  holes: readonly (Hole | undefined)[]
  /** The `name` of each placeholder's position, in order. Undefined if none of them has one. */
  names?: readonly (string | undefined)[]
  faults: readonly Fault[]
  /** Builds the part that renders the field. `partOf` returns the part for the placeholder with the given index. */
  build: (partOf: (place: number) => Part) => Part
}

/** Returns whether the field is a single placeholder, whose value is then the whole field. */
export const isWhole = ({ holed }: Scan): boolean => holed.trim() === HOLE

/** Returns the plan for a field that cannot be used. */
export const refusedPlan = (scan: Scan, faults: readonly Fault[]): FieldPlan => ({
  holes: scan.places.map(() => undefined),
  faults,
  build: () => () => undefined,
})

/** A template field, such as `body`, with its text and plan. */
export type Field = { field: string; scan: Scan; plan: FieldPlan }
