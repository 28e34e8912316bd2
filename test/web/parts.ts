import { join } from 'node:path'
import { Eta } from 'eta'

const eta = new Eta({ views: join(import.meta.dirname, '../../views'), cache: true, autoEscape: true, autoTrim: false })

/** What a part of the views makes of its data, escaped as pages are. */
export const renderPart = (name: string, data: object): string => eta.render(`/parts/${name}`, data)

/** All words of the list below the picture, with the word of each source, in one line. */
export const wordsOfList = (html: string): string =>
  html
    .slice(html.indexOf('<div class="wiring">'))
    .replace(/<[^>]+>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')
