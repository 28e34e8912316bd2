import { z } from 'zod'
import { inputsOf, unescapeHtml } from '../support/page-browser.ts'
import { selectsOf } from './editor-page.ts'

const Draft = z.object({
  secrets: z.array(z.object({ parameter: z.string(), where: z.string() })),
  variables: z.array(z.object({ parameter: z.string(), written: z.string() })),
})

/** Returns what a browser sends for the fields of a page that a user leaves as they are, by name. */
export const fieldsOf = (html: string): Record<string, string> => {
  const areas = [...html.matchAll(/<textarea [^>]*name="([^"]*)"[^>]*>\n?([^<]*)<\/textarea>/g)]
  return {
    ...Object.fromEntries(inputsOf(html)),
    ...Object.fromEntries(selectsOf(html)),
    ...Object.fromEntries(areas.map(([, name = '', value = '']) => [unescapeHtml(name), unescapeHtml(value)])),
  }
}

/** Returns the secrets and variables of the pasted request that a page asks about. */
export const draftOf = (html: string): z.infer<typeof Draft> => Draft.parse(JSON.parse(fieldsOf(html).draft ?? ''))
