import { MAX_BODY_TEMPLATE_CHARS } from './limits.ts'
import { type ScannedPlace, scanTemplate } from './scan.ts'
import type { ParameterType, Serialization } from './template.ts'

/** A change to all placeholders of a parameter. A new type replaces the serialization too. */
export type PlaceholderEdit = {
  type?: ParameterType | undefined
  serialization?: Serialization | undefined
  required?: boolean | undefined
}

type Written = Pick<ScannedPlace, 'name' | 'type' | 'optional' | 'defaultText' | 'serialization'>

const writePlaceholder = ({ name, type, optional, defaultText, serialization }: Written): string =>
  [
    '{{',
    type === 'string' ? '' : `${type}:`,
    name,
    optional && defaultText === undefined ? '?' : '',
    serialization === undefined ? '' : ` | ${serialization}`,
    defaultText === undefined ? '' : `=${defaultText}`,
    '}}',
  ].join('')

const editPlace = (place: ScannedPlace, { type, serialization, required }: PlaceholderEdit): Written => ({
  ...place,
  type: type ?? place.type,
  serialization: type === undefined ? place.serialization : serialization,
  optional: required === undefined ? place.optional : !required,
})

/**
 * Changes the placeholders of the parameters in `edits`, by name. The rest of the text stays, and so do placeholders
 * with errors. A default stays, so that the parameter stays optional.
 */
export const editPlaceholders = (text: string, edits: ReadonlyMap<string, PlaceholderEdit>): string => {
  let edited = ''
  let from = 0
  // How backslashes are counted makes no difference for where the placeholders are.
  for (const place of scanTemplate(text, { pairs: 'keep', maxChars: MAX_BODY_TEMPLATE_CHARS }).places) {
    const edit = place.isBroken ? undefined : edits.get(place.name)
    if (edit === undefined) continue
    edited += text.slice(from, place.offset) + writePlaceholder(editPlace(place, edit))
    from = text.indexOf('}}', place.offset) + 2
  }
  return edited + text.slice(from)
}
