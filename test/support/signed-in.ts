import { createPageBrowser } from './page-browser.ts'

/** Of everybody whom `signUp` of the API client makes. */
const PASSWORD = 'correct horse battery staple'

/** A browser without scripts in which this person is signed in. `baseUrl`: what the pages say where they are. */
export const signInToPages = async (origin: string, email: string, baseUrl = origin) => {
  const browser = createPageBrowser(origin)
  await browser.get('/sign-in')
  const { status, html } = await browser.submit('/sign-in', { email, password: PASSWORD }, { origin: baseUrl })
  if (status !== 303) throw new Error(`sign-in: ${status} ${html}`)
  return browser
}
export type SignedInBrowser = Awaited<ReturnType<typeof signInToPages>>

/** What a page says, without its markup; entities stay as they are. */
export const textOf = (html: string): string =>
  html
    .replace(/<(?:script|style)\b.*?<\/(?:script|style)>/gs, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
