import { NodeHtmlMarkdown } from 'node-html-markdown'

/** An end of an element, or an element without one: a text with `<` alone is none. */
const MARKUP = /<\/[a-z][a-z0-9]*\s*>|<(?:br|hr)\s*\/?>/i

/** What no reader of a page sees, or nobody reads it for. */
const IGNORED = ['script', 'style', 'noscript', 'template', 'svg', 'head', 'iframe', 'object', 'canvas']

const converter = new NodeHtmlMarkdown({ ignore: IGNORED, bulletMarker: '-', maxConsecutiveNewlines: 2 })

export const toMarkdown = (html: string): string => converter.translate(html).trim()

/** A string of JSON as Markdown where it holds HTML; any other as it is. */
export const stringToMarkdown = (text: string): string => (MARKUP.test(text) ? toMarkdown(text) : text)
