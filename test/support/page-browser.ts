export type PageAnswer = { status: number; headers: Headers; html: string; location: string | undefined }

const TEXTS: ReadonlyMap<string, string> = new Map([
  ['&amp;', '&'],
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&#39;', "'"],
])
const unescapeHtml = (html: string): string =>
  html.replace(/&(?:amp|lt|gt|quot|#39);/g, found => TEXTS.get(found) ?? '')

/** What the page's inputs would send, by their names. */
export const inputsOf = (html: string): Map<string, string> =>
  new Map(
    [...html.matchAll(/<input [^>]*name="([^"]*)"[^>]*?value="([^"]*)"/g)].map(([, name = '', value = '']) => [
      unescapeHtml(name),
      unescapeHtml(value),
    ]),
  )

/** Hidden fields that every form of a page may have, and that go with what the test types. */
const KEPT: ReadonlySet<string> = new Set(['_csrf', '_user', '_secret', 'return_to', 'typed'])

/**
 * A browser without scripts: keeps its cookies, follows no redirect by itself, and sends forms with what the last page's
 * hidden fields hold. `address` is where it seems to come from, for an app that trusts loopback as its proxy.
 */
export const createPageBrowser = (origin: string, { address }: { address?: string } = {}) => {
  const cookies = new Map<string, string>()
  let hidden = new Map<string, string>()

  const send = async (method: string, path: string, init: RequestInit = {}): Promise<PageAnswer> => {
    const headers = new Headers(init.headers)
    if (cookies.size > 0) headers.set('cookie', [...cookies].map(pair => pair.join('=')).join('; '))
    if (address !== undefined) headers.set('x-forwarded-for', address)
    const response = await fetch(`${origin}${path}`, { ...init, method, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split(/=(.*)/s)
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    const html = await response.text()
    if (html !== '') hidden = new Map([...inputsOf(html)].filter(([name]) => KEPT.has(name)))
    return {
      status: response.status,
      headers: response.headers,
      html,
      location: response.headers.get('location') ?? undefined,
    }
  }

  return {
    cookies,
    get: (path: string) => send('GET', path),
    /** Sends a form of the page last seen; `headers` in place of what a browser would say of where it comes from. */
    submit: (
      path: string,
      fields: Record<string, string>,
      headers: Record<string, string> = { origin },
      signal: AbortSignal | null = null,
    ) =>
      send('POST', path, { body: new URLSearchParams({ ...Object.fromEntries(hidden), ...fields }), headers, signal }),
  }
}
