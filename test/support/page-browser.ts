export type PageResponse = { status: number; headers: Headers; html: string; location: string | undefined }

const TEXTS: ReadonlyMap<string, string> = new Map([
  ['&amp;', '&'],
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&#39;', "'"],
])
export const unescapeHtml = (html: string): string =>
  html.replace(/&(?:amp|lt|gt|quot|#39);/g, found => TEXTS.get(found) ?? '')

/** Returns the values of the page's inputs by name. */
export const inputsOf = (html: string): Map<string, string> =>
  new Map(
    [...html.matchAll(/<input [^>]*name="([^"]*)"[^>]*?value="([^"]*)"/g)].map(([, name = '', value = '']) => [
      unescapeHtml(name),
      unescapeHtml(value),
    ]),
  )

/** Names of hidden fields that are sent along with the test's own fields. */
const KEPT: ReadonlySet<string> = new Set(['_csrf', '_user', '_secret', 'return_to', 'typed'])

/**
 * Returns a browser without scripts. It keeps its cookies, follows no redirects, and sends forms with the hidden fields
 * of the last page. `address` is the client address seen by an app that trusts loopback as a proxy.
 */
export const createPageBrowser = (origin: string, { address }: { address?: string } = {}) => {
  const cookies = new Map<string, string>()
  let hidden = new Map<string, string>()

  const send = async (method: string, path: string, init: RequestInit = {}): Promise<PageResponse> => {
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
    /** Submits a form of the last page. A list is sent as fields of one name. `headers` replaces the Origin header. */
    submit: (
      path: string,
      fields: Record<string, string | readonly string[]>,
      headers: Record<string, string> = { origin },
      signal: AbortSignal | null = null,
    ) => {
      const body = new URLSearchParams(Object.fromEntries(hidden))
      for (const [name, values] of Object.entries(fields)) {
        body.delete(name)
        for (const value of [values].flat()) body.append(name, value)
      }
      return send('POST', path, { body, headers, signal })
    },
  }
}
