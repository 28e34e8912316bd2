import { MAX_PARAMETERS } from '../../templates/limits.ts'
import type { ParameterType } from '../../templates/template.ts'
import { decodeFormText, percentDecode } from './curl-url.ts'
import type { RequestVariable } from './imported-request.ts'
import { joinTexts, type ParameterPiece, type Piece, textPiece } from './template-pieces.ts'
import { createNames, fillMarks, hasVariables, splitMarks, toSnakeCase } from './variable-marks.ts'

/** Where a value is in a request. */
export type ValuePlace = 'path' | 'query' | 'header' | 'cookie' | 'form' | 'json' | 'xml' | 'multipart'

/** Tells whether a value is a secret. In a path, `name` is the segment before it, and in
 * XML that of the element. */
export type IsSecret = (place: ValuePlace, name: string, value: string) => boolean

/** A secret of the pasted text. The draft has the parameter in its place. */
export type FoundSecret = { place: ValuePlace; name: string; value: string; parameter: string }

/** A variable that became a parameter. `isSecret` tells whether its place is one of a secret. */
export type DraftVariable = Pick<RequestVariable, 'written' | 'from'> & { parameter: string; isSecret: boolean }

/** Thrown where a request cannot be written as a template. `path` is the field of the definition. */
export class UnwritableRequest extends Error {
  override readonly name = 'UnwritableRequest'
  readonly path: string

  constructor(path: string, message: string) {
    super(message)
    this.path = path
  }
}

/** A value to write: as in the request, and decoded. */
export type Value = { place: ValuePlace; name: string; raw: string; decoded: string }

/** Secrets from this length on are replaced wherever they occur. Shorter ones also occur by chance, as part of a word. */
const MIN_REPLACED_CHARS = 8
/** What examples have in place of a secret. It also occurs in names and texts. */
const STAND_IN =
  /^(?:(?:my|your|new|old|test|user|admin|current)[-_ ]?)?(?:password|passphrase|secret|token|username|credentials?|authorization|api[-_ ]?key)$/i

/** Returns whether a secret does not occur by chance, as `password` does. */
export const isDistinctive = (secret: string): boolean => secret.length >= MIN_REPLACED_CHARS && !STAND_IN.test(secret)

const replaceText = (piece: Piece, text: string, by: Piece): readonly Piece[] => {
  if (piece.kind === 'parameter' || !piece.text.includes(text)) return [piece]
  return piece.text.split(text).flatMap((part, index) => (index === 0 ? [textPiece(part)] : [by, textPiece(part)]))
}

/** Returns a function that tells whether a text contains one of these values, also percent-encoded or as in JSON. */
export const createSearch = (values: readonly string[]): ((text: string) => boolean) => {
  const long = [...new Set(values)].filter(isDistinctive)
  const spellings = long.flatMap(value => [value, JSON.stringify(value).slice(1, -1)])
  return text => {
    const readings = [...new Set([text, percentDecode(text), decodeFormText(text)])]
    return spellings.some(spelling => readings.some(reading => reading.includes(spelling)))
  }
}

const spellingsOf = (text: string): readonly string[] => [
  ...new Set([text, encodeURIComponent(text.toWellFormed()), JSON.stringify(text).slice(1, -1)]),
]

export const createDraftParameters = (variables: readonly RequestVariable[], isSecret: IsSecret) => {
  const unique = createNames()
  let count = 0
  const secrets: FoundSecret[] = []
  const byValue = new Map<string, string>()
  const places = new Set<string>()
  const used = new Map<string, DraftVariable>()
  const known = new Map(variables.map(variable => [variable.name, variable]))

  const uniqueName = (name: string): string => {
    count++
    if (count > MAX_PARAMETERS) {
      throw new UnwritableRequest('parameters', `the request has more than ${MAX_PARAMETERS} secrets and variables`)
    }
    return unique(name)
  }
  const nameFor = (suggested: string): string => uniqueName(toSnakeCase(suggested, 'value'))

  /** Returns the parameter for a variable. One that is used as several types becomes several parameters. */
  const variable = (name: string, type: ParameterType = 'string', isInSecret = false): ParameterPiece => {
    const { written, from, placeholder }: RequestVariable = known.get(name) ?? { name, written: name, from: 'shell' }
    const writtenType = placeholder?.type ?? type
    const key = `${writtenType} ${name}`
    const parameter = used.get(key)?.parameter ?? (placeholder ? uniqueName(placeholder.name) : nameFor(name))
    used.set(key, { parameter, written, from, isSecret: used.get(key)?.isSecret === true || isInSecret })
    return {
      kind: 'parameter',
      name: parameter,
      type: writtenType,
      isOptional: placeholder?.isOptional,
      serialization: placeholder?.serialization,
    }
  }

  const withVariables = (text: string, isInSecret = false): readonly Piece[] =>
    splitMarks(text).map(piece => (piece.kind === 'text' ? piece : variable(piece.name, 'string', isInSecret)))

  /** Returns the parameter for a secret. The same value is one parameter, unless it is empty because it is not known. */
  const secret = (
    found: Omit<FoundSecret, 'parameter'>,
    suggestedName = found.name,
    type: ParameterType = 'string',
  ): Piece => {
    const isKnown = type === 'string' && found.value !== ''
    const parameter = (isKnown ? byValue.get(found.value) : undefined) ?? nameFor(suggestedName)
    if (isKnown) byValue.set(found.value, parameter)
    const place = `${parameter} ${found.place} ${found.name}`
    if (!places.has(place)) secrets.push({ ...found, parameter })
    places.add(place)
    return { kind: 'parameter', name: parameter, type }
  }

  /**
   * Returns the pieces for a secret that may contain variables. If other text is a long part of it, all of it becomes one
   * parameter, whose value is then not known. `raw` is the secret as in the request.
   */
  const secretText = (
    found: Omit<FoundSecret, 'parameter'>,
    { raw = found.value, suggestedName = found.name } = {},
  ): readonly Piece[] => {
    if (!hasVariables(raw)) return [secret(found, suggestedName)]
    const isLong = splitMarks(raw).some(piece => piece.kind === 'text' && piece.text.length >= MIN_REPLACED_CHARS)
    return isLong ? [secret({ ...found, value: '' }, suggestedName)] : withVariables(raw, true)
  }

  /** Returns the pieces for a value: a secret becomes a parameter, and so do variables. */
  const value = ({ place, name, raw, decoded }: Value): readonly Piece[] => {
    const isHidden =
      raw !== '' &&
      isSecret(
        place,
        name,
        fillMarks(decoded, variableName => `$${variableName}`),
      )
    return isHidden ? secretText({ place, name, value: decoded }, { raw }) : withVariables(raw)
  }

  /** Replaces further occurrences of the secrets, such as a token that is also part of a text. */
  const hideSecrets = (pieces: readonly Piece[]): readonly Piece[] => {
    let hidden = joinTexts(pieces)
    for (const [text, name] of byValue) {
      if (!isDistinctive(text)) continue
      for (const spelling of spellingsOf(text)) {
        hidden = hidden.flatMap(piece => replaceText(piece, spelling, { kind: 'parameter', name, type: 'string' }))
      }
    }
    return hidden
  }

  return {
    /** Returns how the text refers to a variable, such as `$TOKEN`. */
    writtenAs: (name: string): string => known.get(name)?.written ?? '',
    /** Returns whether the reader of the text decides how a variable's placeholder is written. */
    hasPlaceholder: (name: string): boolean => known.get(name)?.placeholder !== undefined,
    nameFor,
    variable,
    withVariables,
    secret,
    secretText,
    value,
    hideSecrets,
    secrets: (): readonly FoundSecret[] => secrets,
    variables: (): readonly DraftVariable[] => [...used.values()],
  }
}
export type DraftParameters = ReturnType<typeof createDraftParameters>
