import type { RenderedRequest, RequestTemplate } from '../../src/templates/template.ts'

/** A position of lists, with fixed text around it. */
export type ListPosition = {
  where: string
  /** Returns a template with the list in this position. */
  template: (list: string) => Partial<RequestTemplate>
  /**
   * Splits a request at the characters that no value may add. Returns the entries between the fixed ones, and everything
   * else.
   */
  read: (request: RenderedRequest) => { entries: readonly string[]; rest: unknown }
  /** Decodes a member. */
  decode: (text: string) => string
  /** Returns what is sent between members that are separated by the character. */
  separator: (char: string) => string
  /** Returns whether the position itself does not allow members that are separated by the character. */
  refuses: (members: readonly string[], char: string) => boolean
  /** Whether a missing value leaves nothing. */
  isOptional: boolean
  /** What precedes the list, and for `repeat` each of its members, within an entry. */
  key: string
}

const separatorInUrl = (char: string): string => (char === ',' || char === '.' ? char : encodeURIComponent(char))
const unchanged = (text: string): string => text
const never = (): boolean => false

const queryPosition: ListPosition = {
  where: 'in a query',
  template: list => ({ url: `https://api.example.com/a?fixed=1&${list}&last={{x}}` }),
  read: ({ url }) => {
    const { origin, pathname, search, hash, href } = new URL(url)
    const pairs = search.split('&')
    return { entries: pairs.slice(1, -1), rest: [origin, pathname, hash, href === url, pairs[0], pairs.at(-1)] }
  },
  decode: decodeURIComponent,
  separator: separatorInUrl,
  refuses: never,
  isOptional: true,
  key: 'k=',
}

const formPosition: ListPosition = {
  ...queryPosition,
  where: 'in a form',
  template: list => ({
    headers: [{ name: 'Content-Type', value: 'application/x-www-form-urlencoded' }],
    body: `fixed=1&${list}&last={{x}}`,
  }),
  read: ({ body = '' }) => {
    const pairs = body.split('&')
    return { entries: pairs.slice(1, -1), rest: [pairs[0], pairs.at(-1)] }
  },
}

const cookiePosition: ListPosition = {
  ...queryPosition,
  where: 'in the Cookie header',
  template: list => ({ headers: [{ name: 'Cookie', value: `fixed=1; ${list}; last={{x}}` }] }),
  read: ({ headers }) => {
    const cookies = new Headers(headers.map(([name, value]) => [name, value])).get('cookie')?.split('; ') ?? []
    const isPrintable = cookies.every(cookie => /^[!-:<-~]*$/.test(cookie))
    return { entries: cookies.slice(1, -1), rest: [headers.length, isPrintable, cookies[0], cookies.at(-1)] }
  },
}

const pathPosition: ListPosition = {
  where: 'in a path',
  template: list => ({ url: `https://api.example.com/fixed/${list}/{{x}}?q=1` }),
  read: ({ url }) => {
    const { origin, pathname, search, hash, href } = new URL(url)
    const segments = pathname.split('/')
    const around = [...segments.slice(0, 2), ...segments.slice(3)]
    return { entries: segments.slice(2, 3), rest: [origin, around, search, hash, href === url] }
  },
  decode: decodeURIComponent,
  separator: separatorInUrl,
  refuses: (members, char) => ['', '.', '..'].includes(members.join(char)),
  isOptional: false,
  key: '',
}

const headerPosition: ListPosition = {
  where: 'in a header',
  template: list => ({
    headers: [
      { name: 'X-First', value: '1' },
      { name: 'X-List', value: `${list}` },
      { name: 'X-Last', value: '{{x}}' },
    ],
  }),
  read: ({ headers }) => {
    const sent = new Headers(headers.map(([name, value]) => [name, value]))
    return { entries: [sent.get('x-list') ?? ''], rest: [...sent].filter(([name]) => name !== 'x-list') }
  },
  decode: unchanged,
  separator: unchanged,
  refuses: members =>
    members.some(one => {
      const isOpen = one.includes('"') && (one.includes('\\') || one.split('"').length % 2 === 0)
      return one === '' || one !== one.trim() || /[^\t\x20-\x7e\x80-\xff]/.test(one) || isOpen
    }),
  isOptional: false,
  key: '',
}

const BOUNDARY = 'part-7'

const multipartPosition: ListPosition = {
  where: 'in the content of a part',
  template: list => ({
    headers: [{ name: 'Content-Type', value: `multipart/form-data; boundary=${BOUNDARY}` }],
    body: [
      ...[`--${BOUNDARY}`, 'Content-Disposition: form-data; name="fixed"', '', '1'],
      ...[`--${BOUNDARY}`, 'Content-Disposition: form-data; name="k"', '', list],
      ...[`--${BOUNDARY}`, 'Content-Disposition: form-data; name="last"', '', '{{x}}', `--${BOUNDARY}--`, ''],
    ].join('\r\n'),
  }),
  read: ({ body = '' }) => {
    const parts = body.split(`--${BOUNDARY}`)
    const head = '\r\nContent-Disposition: form-data; name="k"\r\n\r\n'
    const own = parts.slice(2, -2)
    const areWhole = own.every(part => part.startsWith(head) && part.endsWith('\r\n'))
    return {
      entries: own.map(part => part.slice(head.length, -2)),
      rest: [areWhole, parts.slice(0, 2), parts.slice(-2)],
    }
  },
  decode: unchanged,
  separator: unchanged,
  refuses: members => members.some(one => one.includes(BOUNDARY)),
  isOptional: false,
  key: '',
}

export const LIST_POSITIONS = {
  query: queryPosition,
  form: formPosition,
  cookie: cookiePosition,
  path: pathPosition,
  header: headerPosition,
  multipart: multipartPosition,
}
