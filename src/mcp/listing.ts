import { type JsonValue, TOOLS_PER_PAGE } from '../kernel/index.ts'

export type Era = 'session' | 'stateless'

/** One item; `render` gives its JSON as an era shows it. */
export type ListItem = { name: string; render: (era: Era) => string }

/** A page as the bytes of a result and of the bracket that closes the envelope around it. */
export type ListPage = { session: Buffer; stateless: Buffer }

export type Listing = {
  /** Undefined when the cursor is none of ours. */
  find: (cursor: JsonValue | undefined) => ListPage | undefined
  /** Whether both show clients the same. */
  isEqual: (other: Listing) => boolean
  pages: readonly ListPage[]
}

export type ListingOptions = {
  /** The result's member that holds the items. */
  member: string
  /** In the order of their names, by code unit. */
  items: readonly ListItem[]
  /** What stateless results carry besides. */
  trailer: Readonly<Record<string, unknown>>
}

const CURSOR_PREFIX = 'after:'
const encodeCursor = (name: string): string => Buffer.from(CURSOR_PREFIX + name).toString('base64url')
const decodeCursor = (cursor: string): string | undefined => {
  const text = Buffer.from(cursor, 'base64url').toString()
  return text.startsWith(CURSOR_PREFIX) && encodeCursor(text.slice(CURSOR_PREFIX.length)) === cursor
    ? text.slice(CURSOR_PREFIX.length)
    : undefined
}

const renderPage = ({ member, trailer }: ListingOptions, items: readonly ListItem[], isLast: boolean): ListPage => {
  const last = items.at(-1)
  const next = isLast || last === undefined ? '' : `,"nextCursor":${JSON.stringify(encodeCursor(last.name))}`
  const render = (era: Era, tail: string): Buffer =>
    Buffer.from(`{"${member}":[${items.map(item => item.render(era)).join(',')}]${next}${tail}}`)
  return { session: render('session', '}'), stateless: render('stateless', `,${JSON.stringify(trailer).slice(1)}`) }
}

/**
 * A list in pages of ready-made bytes. A cursor names the last item of the page before, so one that was given out
 * before the list changed still goes on where it stopped: such a page is made on the spot.
 */
export const createListing = (options: ListingOptions): Listing => {
  const { items } = options
  const pageAt = (from: number): ListPage =>
    renderPage(options, items.slice(from, from + TOOLS_PER_PAGE), from + TOOLS_PER_PAGE >= items.length)
  const pages: ListPage[] = [pageAt(0)]
  const byCursor = new Map<string, ListPage>()
  for (let from = TOOLS_PER_PAGE; from < items.length; from += TOOLS_PER_PAGE) {
    const page = pageAt(from)
    pages.push(page)
    byCursor.set(encodeCursor(items[from - 1]?.name ?? ''), page)
  }
  const findMoved = (cursor: string): ListPage | undefined => {
    const name = decodeCursor(cursor)
    if (name === undefined) return undefined
    const from = items.findIndex(item => item.name > name)
    return pageAt(from < 0 ? items.length : from)
  }
  return {
    find: cursor => {
      if (cursor === undefined) return pages[0]
      return typeof cursor === 'string' ? (byCursor.get(cursor) ?? findMoved(cursor)) : undefined
    },
    isEqual: other =>
      pages.length === other.pages.length &&
      pages.every((page, index) => other.pages[index]?.session.equals(page.session)),
    pages,
  }
}
