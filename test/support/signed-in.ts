import { createPageBrowser } from './page-browser.ts'

/** The password of every account created by `signUp` of the API client. */
const PASSWORD = 'correct horse battery staple'

/** Returns a browser without scripts in which this user is signed in. `baseUrl` is the public address of the app. */
export const signInToPages = async (origin: string, email: string, baseUrl = origin) => {
  const browser = createPageBrowser(origin)
  await browser.get('/sign-in')
  const { status, html } = await browser.submit('/sign-in', { email, password: PASSWORD }, { origin: baseUrl })
  if (status !== 303) throw new Error(`sign-in: ${status} ${html}`)
  return browser
}
export type SignedInBrowser = Awaited<ReturnType<typeof signInToPages>>

/** Returns the text of a page without its markup. Entities are not decoded. */
export const textOf = (html: string): string =>
  html
    .replace(/<(?:script|style)\b.*?<\/(?:script|style)>/gs, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
