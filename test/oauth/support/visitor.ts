import { createBrowser } from '../../support/browser.ts'

export type Page = { url: string; status: number; headers: Headers; text: string }

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const MAX_STEPS = 12

type Cookie = { name: string; value: string; path: string }

/** Creates a jar for the cookies of one origin, which are sent according to their paths. */
const createCookieJar = () => {
  const cookies = new Map<string, Cookie>()
  return {
    take: (headers: Headers): void => {
      for (const line of headers.getSetCookie()) {
        const [pair = '', ...attributes] = line.split(/; */)
        const [name = '', value = ''] = pair.split(/=(.*)/s)
        const path = attributes.map(text => /^path=(.*)$/i.exec(text)?.[1]).find(Boolean) ?? '/'
        const key = `${name};${path}`
        if (value === '' || attributes.some(text => /^expires=Thu, 01 Jan 1970/i.test(text))) cookies.delete(key)
        else cookies.set(key, { name, value, path })
      }
    },
    header: (pathname: string): string =>
      [...cookies.values()]
        .filter(({ path }) => pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`))
        .map(({ name, value }) => `${name}=${value}`)
        .join('; '),
    set: (name: string, value: string, path = '/'): void => {
      cookies.set(`${name};${path}`, { name, value, path })
    },
    all: (): readonly Cookie[] => [...cookies.values()],
  }
}

const decodeEntities = (html: string): string =>
  html.replace(/&(amp|lt|gt|quot|#39|#x27);/g, (_, name: string) => {
    const plain: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", '#x27': "'" }
    return plain[name] ?? ''
  })

/**
 * Returns the action and fields of the form that posts to an address containing this text. If `field` is given, the
 * form must have it.
 */
export const fieldsOf = (
  page: Page,
  action: string,
  field?: string,
): { action: string; fields: Record<string, string> } => {
  for (const [, attributes = '', inside = ''] of page.text.matchAll(/<form([^>]*)>(.*?)<\/form>/gs)) {
    const target = decodeEntities(/action="([^"]*)"/.exec(attributes)?.[1] ?? '')
    if (!target.includes(action)) continue
    const hidden = [...inside.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)]
    if (field !== undefined && !hidden.some(([, name]) => name === field)) continue
    return {
      action: new URL(target, page.url).href,
      fields: Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, decodeEntities(value)])),
    }
  }
  throw new Error(`no form leads to ${action} on ${page.url} (${page.status}): ${page.text.slice(0, 2_000)}`)
}

/** Returns the URL that a page leads to by itself, through a redirect or its markup. */
const nextOf = ({ status, headers, text }: Page): string | null => {
  if (REDIRECTS.has(status)) return headers.get('location')
  const [, target] = /<meta http-equiv="refresh" content="0; url=([^"]*)"/.exec(text) ?? []
  return target === undefined ? null : decodeEntities(target)
}

/** A person with a browser without scripts, which follows pages within Patchbay and stops when they lead elsewhere. */
export const createVisitor = (origin: string) => {
  const jar = createCookieJar()

  const send = async (method: string, url: string, form?: Record<string, string>, extra?: Record<string, string>) => {
    const cookie = jar.header(new URL(url).pathname)
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: {
        accept: 'text/html',
        ...(cookie !== '' && { cookie }),
        ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded', origin }),
        ...extra,
      },
      ...(form !== undefined && { body: new URLSearchParams(form).toString() }),
    })
    jar.take(response.headers)
    return { url, status: response.status, headers: response.headers, text: await response.text() }
  }

  /** Follows redirects within Patchbay. The last page's `location`, if any, leads elsewhere. */
  const follow = async (first: Page): Promise<Page> => {
    let page = first
    for (let step = 0; step < MAX_STEPS; step++) {
      const target = nextOf(page)
      const next = target === null ? null : new URL(target, page.url)
      if (next === null || next.origin !== origin) return page
      page = await send('GET', next.href)
    }
    throw new Error(`goes round in circles: ${page.url}`)
  }

  const enter = async (how: 'signUp' | 'signIn', email: string, password = 'correct horse battery staple') => {
    const browser = createBrowser(origin)
    const { status, text } = await browser[how](email, password)
    if (status !== (how === 'signUp' ? 201 : 200)) throw new Error(`${how}: ${status} ${text}`)
    for (const [name, value] of browser.cookies) jar.set(name, value)
  }

  return {
    jar,
    send,
    get: async (url: string): Promise<Page> => follow(await send('GET', new URL(url, origin).href)),
    post: async (url: string, form: Record<string, string>): Promise<Page> => follow(await send('POST', url, form)),
    /** Creates an account and signs in to the dashboard. */
    signUp: (email: string, password?: string): Promise<void> => enter('signUp', email, password),
    /** Signs in to the dashboard. */
    signIn: (email: string, password?: string): Promise<void> => enter('signIn', email, password),
  }
}
export type Visitor = ReturnType<typeof createVisitor>
