import { z } from 'zod'
import { SETUP_TOKEN } from './setup-token.ts'

export type BrowserAnswer = { status: number; headers: Headers; text: string; json: () => unknown }

const Session = z.object({ csrfToken: z.string() })

/**
 * Returns a client of the management API that works like a page in a browser: it keeps its cookies and sends its CSRF
 * token. `address` is the client address seen by an app that trusts loopback as a proxy.
 */
export const createBrowser = (origin: string, { address }: { address?: string } = {}) => {
  const cookies = new Map<string, string>()
  let csrfToken: string | undefined

  const send = async (
    method: string,
    path: string,
    body?: unknown,
    extra: Record<string, string> = {},
  ): Promise<BrowserAnswer> => {
    const headers = new Headers(extra)
    if (cookies.size > 0) headers.set('cookie', [...cookies].map(pair => pair.join('=')).join('; '))
    if (csrfToken !== undefined) headers.set('x-csrf-token', csrfToken)
    if (address !== undefined) headers.set('x-forwarded-for', address)
    if (body !== undefined) headers.set('content-type', 'application/json')
    const response = await fetch(`${origin}/api/v1${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split(/=(.*)/s)
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) }
  }

  const loadCsrfToken = async (): Promise<void> => {
    const answer = await send('GET', '/session')
    if (answer.status === 200) csrfToken = Session.parse(answer.json()).csrfToken
  }

  return {
    send,
    cookies,
    loadCsrfToken,
    /** Sends the setup token too, which only the first account may need. */
    signUp: (email: string, password: string, setupToken = SETUP_TOKEN) =>
      send('POST', '/signup', { email, password, setupToken }),
    signIn: (email: string, password: string) => send('POST', '/session', { email, password }),
  }
}
