import { xmlAttributeHole, xmlDocumentHole, xmlTextHole } from './encodings.ts'
import { checkSerializations } from './lists/serialize.ts'
import { type FieldPlan, type Hole, isWhole, refusedPlan } from './plan.ts'
import { line } from './render.ts'
import { type Fault, HOLE, type Scan } from './scan.ts'
import { isLikeUtf8, parseXml, type XmlPiece } from './xml-parser.ts'

const ELSEWHERE = 'outside of the root element. Put it into the text of an element or into the value of an attribute'

/** Where a placeholder is not allowed, as the end of a sentence. Nothing can be escaped there. */
const MISPLACED: Readonly<Record<Exclude<XmlPiece, 'text' | 'attribute-value'>, string>> = {
  comment: 'in an XML comment. Remove it',
  cdata: 'in a CDATA section. Write the placeholder without <![CDATA[ and ]]>; its value is escaped',
  instruction: 'in a processing instruction. Write the text out',
  doctype: 'in a DOCTYPE. Write the text out',
  'element-name': 'in the name of an element. Write the name out',
  'attribute-name': 'in the name of an attribute. Write the name out',
}

/** Returns a word of letters that does not occur in the text. */
const markFor = (text: string): string => {
  let mark = 'place'
  while (text.includes(mark)) mark += 'q'
  return mark
}

type XmlShape = {
  pieces: ReadonlyMap<number, XmlPiece>
  names: ReadonlyMap<number, string | undefined>
  encoding: string | undefined
  fault: Fault | undefined
}

/**
 * Finds the piece of the document that contains each placeholder, and the local name of its element or attribute. Parses
 * the text with a name in place of each.
 */
const shapeXml = ({ holed, offsetOf }: Scan): XmlShape => {
  const mark = markFor(holed)
  const marks = new RegExp(`${mark}(\\d+)x`, 'g')
  let next = 0
  const marked = holed.replaceAll(HOLE, () => `${mark}${next++}x`)
  const pieces = new Map<number, XmlPiece>()
  const names = new Map<number, string | undefined>()
  const parsed = parseXml(marked, (piece, text, name) => {
    for (const [, index] of text.matchAll(marks)) {
      pieces.set(Number(index), piece)
      names.set(Number(index), name?.slice(name.indexOf(':') + 1))
    }
  })
  if (parsed.ok) return { pieces, names, encoding: parsed.value.encoding, fault: undefined }
  const { index, message } = parsed.error
  const at = marked.slice(0, index).replaceAll(marks, HOLE).length
  return {
    pieces,
    names,
    encoding: undefined,
    fault: {
      offset: offsetOf(Math.min(at, holed.length)),
      message: `the body is not well-formed XML: ${message.replaceAll(marks, '{{…}}')}`,
    },
  }
}

/** Another encoding could give the bytes of a value another meaning. */
const checkEncoding = (declared: string | undefined, contentType: string): readonly Fault[] => {
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(contentType) ?? []
  const at = (message: string): readonly Fault[] => [{ offset: 0, message }]
  if (!isLikeUtf8(charset)) return at('the body is sent as UTF-8. Write charset=utf-8 in the Content-Type')
  return declared === undefined || isLikeUtf8(declared)
    ? []
    : at('the body is sent as UTF-8. Write encoding="UTF-8" in the XML declaration')
}

/** Plans a body that is a single placeholder. Its value is the document. */
const planDocument = ({ places }: Scan, contentType: string): FieldPlan => ({
  holes: places.map(({ type }) => xmlDocumentHole(type)),
  faults: [
    ...checkSerializations(places, [], 'in XML'),
    ...places
      .filter(({ type, isBroken }) => type !== 'string' && !isBroken)
      .map(({ offset }) => ({
        offset,
        message: 'a placeholder that is the whole XML body must have type string. Write {{name}}',
      })),
    ...checkEncoding(undefined, contentType),
  ],
  build: partOf => partOf(0),
})

/** Plans the body as XML. Placeholders are allowed in the text of elements and in the values of attributes. */
export const planXml = (scan: Scan, contentType: string): FieldPlan => {
  if (isWhole(scan)) return planDocument(scan, contentType)
  const { holed, places } = scan
  if (places.length === 0) return { holes: [], faults: [], build: partOf => line(holed, 0, partOf) }
  const { pieces, names, encoding, fault } = shapeXml(scan)
  const misplaced: Fault[] = []
  const holes = places.map(({ type, offset }, index): Hole | undefined => {
    const piece = pieces.get(index)
    if (piece === 'text') return xmlTextHole(type)
    if (piece === 'attribute-value') return xmlAttributeHole(type)
    if (piece !== undefined) misplaced.push({ offset, message: `a placeholder cannot be ${MISPLACED[piece]}` })
    return undefined
  })
  misplaced.push(...checkSerializations(places, [], 'in XML'))
  if (misplaced.length > 0) return refusedPlan(scan, misplaced)
  if (fault !== undefined) return refusedPlan(scan, [fault])
  const elsewhere = places
    .filter((_, index) => holes[index] === undefined)
    .map(({ offset }) => ({ offset, message: `a placeholder cannot be ${ELSEWHERE}` }))
  return {
    holes,
    names: places.map((_, index) => names.get(index)),
    faults: [...elsewhere, ...checkEncoding(encoding, contentType)],
    build: partOf => line(holed, 0, partOf),
  }
}
