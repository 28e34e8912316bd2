import { SaxesParser } from 'saxes'
import { failure, type Result, success } from '../lib/kernel/result.ts'

/** The pieces of a document that a handler can receive. */
export type XmlPiece =
  | 'text'
  | 'attribute-value'
  | 'attribute-name'
  | 'element-name'
  | 'comment'
  | 'cdata'
  | 'instruction'
  | 'doctype'

/** The first error of a text that is not well-formed XML. `index` is approximate. */
export type XmlFault = { index: number; message: string }

class NotWellFormed extends Error {}

/** Returns whether text sent as UTF-8 has the same meaning in an encoding. In UTF-7, for example, `+ADw-` is `<`. */
export const isLikeUtf8 = (encoding: string): boolean => /^(?:utf-?8|us-ascii)$/i.test(encoding)

/**
 * Parses a complete document (XML 1.0) and passes its pieces to `onPiece` in order, those of an element or attribute with
 * its name. References are decoded. A DOCTYPE is neither followed nor processed, so a reference to an entity that it
 * declares is an error. Takes linear time.
 */
export const parseXml = (
  text: string,
  onPiece: (piece: XmlPiece, text: string, name?: string) => void,
): Result<{ encoding: string | undefined }, XmlFault> => {
  // The parser would join half of a surrogate pair with the next character, which may be `<`.
  if (!text.isWellFormed()) return failure({ index: 0, message: 'half of a surrogate pair is not a character' })
  const parser = new SaxesParser({ position: false })
  const open: string[] = []
  let encoding: string | undefined
  parser.on('error', ({ message }) => {
    throw new NotWellFormed(message)
  })
  parser.on('xmldecl', declaration => {
    encoding = declaration.encoding
  })
  parser.on('doctype', doctype => onPiece('doctype', doctype))
  parser.on('processinginstruction', ({ target, body }) => onPiece('instruction', `${target} ${body}`))
  parser.on('comment', comment => onPiece('comment', comment))
  parser.on('cdata', cdata => onPiece('cdata', cdata))
  parser.on('opentagstart', ({ name }) => onPiece('element-name', name))
  parser.on('attribute', ({ name, value }) => {
    onPiece('attribute-name', name)
    onPiece('attribute-value', value, name)
  })
  parser.on('opentag', ({ name }) => open.push(name))
  parser.on('closetag', () => open.pop())
  parser.on('text', content => onPiece('text', content, open.at(-1)))
  try {
    parser.write(text).close()
    return success({ encoding })
  } catch (error) {
    if (!(error instanceof NotWellFormed)) throw error
    return failure({ index: Math.min(parser.position, text.length), message: error.message.replace(/\.$/, '') })
  }
}
