import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { TOOLS_PER_PAGE } from '../../lib/kernel/limits.ts'

export type Era = 'session' | 'stateless'

/** What precedes the members of a page, including the opening brace. */
export type ListHead = Readonly<Record<Era, string>>

/** A list item. `render` returns its JSON for an era. */
export type ListItem = { name: string; render: (era: Era) => string }

/** The member of an item that holds its name. */
type ItemKey = 'name' | 'uri' | 'uriTemplate'

/** A page as bytes: from after the opening brace of the result to the brace that closes the envelope. */
type Page = {
  /** Name of its last item. */
  last: string
  session: Buffer
  /** The same buffer as for sessions, unless the eras show an item differently. */
  stateless: Buffer
}

const CURSOR_PREFIX = 'after:'
const encodeCursor = (name: string): string => Buffer.from(CURSOR_PREFIX + name).toString('base64url')
const decodeCursor = (cursor: JsonValue): string | undefined => {
  if (typeof cursor !== 'string') return undefined
  const text = Buffer.from(cursor, 'base64url').toString()
  return text.startsWith(CURSOR_PREFIX) && encodeCursor(text.slice(CURSOR_PREFIX.length)) === cursor
    ? text.slice(CURSOR_PREFIX.length)
    : undefined
}

type Row = { name: string; json: string }

/** Uses memory of its own: a buffer from Node's pool would keep the whole pool alive. */
const toBytes = (text: string): Buffer => {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}

const renderPage = (member: string, rows: readonly Row[], isLast: boolean): string => {
  const last = rows.at(-1)
  const next = isLast || last === undefined ? '' : `,"nextCursor":${JSON.stringify(encodeCursor(last.name))}`
  return `"${member}":[${rows.map(row => row.json).join(',')}]${next}}}`
}

const buildPage = (member: string, items: readonly ListItem[], isLast: boolean): Page => {
  const render = (era: Era): string => {
    const rows = items.map(item => ({ name: item.name, json: item.render(era) }))
    return renderPage(member, rows, isLast)
  }
  const [session, stateless] = [render('session'), render('stateless')]
  const bytes = toBytes(session)
  return {
    last: items.at(-1)?.name ?? '',
    session: bytes,
    stateless: stateless === session ? bytes : toBytes(stateless),
  }
}

/** Parses the items of a page. */
const readRows = (member: string, page: Buffer, key: ItemKey): Row[] => {
  const result: JsonObject = JSON.parse(`{${page.toString('utf8', 0, page.length - 1)}`)
  const items = result[member]
  return (Array.isArray(items) ? items : []).flatMap(item =>
    isJsonObject(item) && typeof item[key] === 'string' ? [{ name: item[key], json: JSON.stringify(item) }] : [],
  )
}

/**
 * A list as pages of prepared bytes, and nothing else in memory. `member` is the member of the result that holds the
 * items, which are sorted by name (by code unit); `key` is the member that holds an item's name. A cursor names the
 * last item of the previous page, so cursors from before a change of the list still work: their page is built on
 * demand.
 */
export const createListing = (member: string, items: readonly ListItem[], key: ItemKey = 'name') => {
  const pages: Page[] = []
  do {
    const rest = items.slice(pages.length * TOOLS_PER_PAGE)
    pages.push(buildPage(member, rest.slice(0, TOOLS_PER_PAGE), rest.length <= TOOLS_PER_PAGE))
  } while (pages.length * TOOLS_PER_PAGE < items.length)

  const findBehind = (name: string, era: Era): Buffer | undefined => {
    const index = pages.findIndex(page => page.last > name)
    if (index > 0 && pages[index - 1]?.last === name) return pages[index]?.[era]
    const near = index < 0 ? [] : pages.slice(index, index + 2)
    const rows = near.flatMap(page => readRows(member, page[era], key)).filter(row => row.name > name)
    const isLast = near.at(-1) === pages.at(-1) && rows.length <= TOOLS_PER_PAGE
    return toBytes(renderPage(member, rows.slice(0, TOOLS_PER_PAGE), isLast))
  }
  return {
    /** Returns a page, or undefined if the cursor is invalid. */
    find: (cursor: JsonValue | undefined, era: Era): Buffer | undefined => {
      if (cursor === undefined) return pages[0]?.[era]
      const name = decodeCursor(cursor)
      return name === undefined ? undefined : findBehind(name, era)
    },
    /** Whether clients see the same in both. */
    isEqual: (other: { pages: readonly Page[] }): boolean =>
      pages.length === other.pages.length &&
      pages.every((page, index) => other.pages[index]?.session.equals(page.session)),
    pages,
  }
}
export type Listing = ReturnType<typeof createListing>
