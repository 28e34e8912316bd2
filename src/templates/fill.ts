import type { JsonValue } from '../lib/kernel/json.ts'
import { MAX_RENDERED_BODY_CHARS, MAX_RENDERED_LINE_CHARS } from './limits.ts'
import type { Field } from './parameters.ts'
import type { Hole, Outcome, Part } from './plan.ts'
import type { TemplateParameter } from './template.ts'

const limitOf = ({ kind }: Hole): number =>
  ['json', 'json-string', 'form', 'text'].includes(kind) ? MAX_RENDERED_BODY_CHARS : MAX_RENDERED_LINE_CHARS

/** Returns the part that fills one placeholder: the encoded value, an error, or the result for a missing value. */
const fillPlace = (hole: Hole, name: string, fallback: JsonValue | undefined, optional: boolean): Part => {
  const { encode } = hole
  const refused = { parameter: name, message: hole.refusal }
  const tooLong = { parameter: name, message: `is too long (at most ${limitOf(hole)} characters in total)` }
  const missing: Outcome = optional ? hole.whenMissing : { parameter: name, message: 'is required' }
  return (values, room) => {
    const given = values.get(name)
    const value = given === undefined ? fallback : given
    if (value === undefined) return missing
    // Encodings never shorten a text.
    if (typeof value === 'string' && value.length > room) return tooLong
    const text = encode(value)
    if (text === undefined) return refused
    return text.length > room ? tooLong : text
  }
}

/** Builds a field as one part, with each placeholder filled by its parameter's value or default. */
export const buildField = ({ scan, plan }: Field, parameters: ReadonlyMap<string, TemplateParameter>): Part =>
  plan.build(index => {
    const place = scan.places[index]
    const hole = plan.holes[index]
    if (place === undefined || hole === undefined) throw new RangeError(`no placeholder ${index}`)
    return fillPlace(hole, place.name, parameters.get(place.name)?.default, place.optional)
  })
