import { NodeHtmlMarkdown } from 'node-html-markdown'

/** Matches an end tag or a void element. A `<` alone does not make a text HTML. */
const MARKUP = /<\/[a-z][a-z0-9]*\s*>|<(?:br|hr)\s*\/?>/i

/** Elements that are invisible, or useless as text. */
const IGNORED = ['script', 'style', 'noscript', 'template', 'svg', 'head', 'iframe', 'object', 'canvas']

const converter = new NodeHtmlMarkdown({ ignore: IGNORED, bulletMarker: '-', maxConsecutiveNewlines: 2 })

export const toMarkdown = (html: string): string => converter.translate(html).trim()

/** Converts a string to Markdown if it contains HTML; otherwise returns it unchanged. */
export const stringToMarkdown = (text: string): string => (MARKUP.test(text) ? toMarkdown(text) : text)
