import { signUp } from '../support/api-client.ts'
import { unescapeHtml } from '../support/page-browser.ts'
import { signInToPages } from '../support/signed-in.ts'

/** Opens the editor for a new tool as a new user. */
export const openEditor = async (origin: string) => {
  const { email, userId } = await signUp(origin)
  const browser = await signInToPages(origin, email)
  await browser.get('/toolkits/new-tool')
  return { browser, email, userId }
}

/** Returns the messages below a field, without markup. */
export const noteOf = (html: string, field: string): string => {
  const [, note = ''] = new RegExp(`id="note-${field}"[^>]*>(.*?)</div>`, 's').exec(html) ?? []
  return unescapeHtml(note.replaceAll(/<[^>]+>/g, '')).trim()
}

/** Returns the values of the page's selects by name. */
export const selectsOf = (html: string): Map<string, string> =>
  new Map(
    [...html.matchAll(/<select [^>]*name="([^"]*)"[^>]*>(.*?)<\/select>/gs)].map(([, name = '', options = '']) => [
      unescapeHtml(name),
      unescapeHtml(/<option value="([^"]*)" selected>/.exec(options)?.[1] ?? ''),
    ]),
  )

/** Returns the value of a textarea. */
export const textareaOf = (html: string, id: string): string =>
  unescapeHtml(new RegExp(`<textarea[^>]* id="${id}"[^>]*>\\n([^<]*)</textarea>`).exec(html)?.[1] ?? '')
