import type { DraftParameters, IsSecret } from './draft-parameters.ts'
import { type Piece, textPiece } from './template-pieces.ts'
import { fillMarks, hasVariables } from './variable-marks.ts'

/**
 * Matches the start tag of an element with its attributes and, if the element has no elements, its content: a CDATA
 * section or text. Takes linear time, because no two alternatives begin alike, except that a CDATA section without an
 * end is read up to its maximum length.
 */
const ELEMENT =
  /<([\w.:-]{1,200})((?:\s(?:[^<>"']|"[^"<]*"|'[^'<]*')*)?)>(?:\s{0,1000}<!\[CDATA\[((?:[^\]]|\](?!\]>)){0,8192})\]\]>\s{0,1000}(?=<\/)|([^<>]*)(?=<\/))?/g
const ATTRIBUTE = /([\w.:-]{1,200})\s*=\s*(?:"([^"]*)"|'([^']*)')/g

const ENTITIES: readonly (readonly [string, string])[] = [
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&apos;', "'"],
  ['&amp;', '&'],
]

const decode = (text: string): string => {
  const characters = new Map(ENTITIES)
  return text.replaceAll(/&[a-z]+;/g, entity => characters.get(entity) ?? entity)
}

/** Escapes the text of a CDATA section, which a placeholder cannot be in. */
const escapePiece = (piece: Piece): Piece =>
  piece.kind === 'text'
    ? textPiece(piece.text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'))
    : piece

const localName = (name: string): string => name.slice(name.indexOf(':') + 1)

/**
 * Drafts XML: secrets in attributes and in elements without elements become parameters, and all other text stays. A
 * CDATA section with a secret or a variable becomes text.
 */
export const draftXml = (text: string, parameters: DraftParameters, isSecret: IsSecret): readonly Piece[] => {
  const draftAttributes = (attributes: string): readonly Piece[] => {
    let from = 0
    const pieces = [...attributes.matchAll(ATTRIBUTE)].flatMap(
      ({ 0: all, 1: name = '', 2: quoted, 3: single, index }): readonly Piece[] => {
        const raw = quoted ?? single ?? ''
        const end = index + all.length - 1
        const before = attributes.slice(from, end - raw.length)
        from = end
        const value = { place: 'xml', name: localName(name), raw, decoded: decode(raw) } as const
        return [...parameters.withVariables(before), ...parameters.value(value)]
      },
    )
    return [...pieces, ...parameters.withVariables(attributes.slice(from))]
  }

  const draftSection = (name: string, written: string, content: string): readonly Piece[] => {
    const filled = fillMarks(content, variable => `$${variable}`)
    if (!hasVariables(content) && !isSecret('xml', name, filled)) return [textPiece(written)]
    return parameters.value({ place: 'xml', name, raw: content, decoded: content }).map(escapePiece)
  }

  let from = 0
  const pieces = [...text.matchAll(ELEMENT)].flatMap(
    ({ 0: all, 1: name = '', 2: attributes = '', 3: section, 4: content, index }): readonly Piece[] => {
      const before = text.slice(from, index + 1 + name.length)
      const inside = all.slice(1 + name.length + attributes.length + 1)
      from = index + all.length
      const element = localName(name)
      const value = { place: 'xml', name: element, raw: inside, decoded: decode(inside) } as const
      return [
        ...parameters.withVariables(before),
        ...draftAttributes(attributes),
        textPiece('>'),
        ...(section === undefined ? [] : draftSection(element, inside, section)),
        ...(content === undefined ? [] : parameters.value(value)),
      ]
    },
  )
  return [...pieces, ...parameters.withVariables(text.slice(from))]
}
