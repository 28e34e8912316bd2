import { join } from 'node:path'
import { Eta } from 'eta'
import { unescapeHtml } from '../support/page-browser.ts'

const eta = new Eta({ views: join(import.meta.dirname, '../../views'), cache: true, autoEscape: true, autoTrim: false })

/** Renders `views/parts/NAME`, escaped as on a page. */
export const renderPart = (name: string, data: object): string => eta.render(`/parts/${name}`, data)

/** Returns the text of the list below the diagram, on one line. */
export const wiringText = (html: string): string =>
  unescapeHtml(html.slice(html.indexOf('<div class="wiring">')).replace(/<[^>]+>/g, ' ')).replace(/\s+/g, ' ')
