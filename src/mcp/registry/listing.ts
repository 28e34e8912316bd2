import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { TOOLS_PER_PAGE } from '../../lib/kernel/limits.ts'

export type Era = 'session' | 'stateless'

/** Start of a page, from the opening brace up to the items. */
export type ListHead = Readonly<Record<Era, string>>

/** A list item. `render` returns the item's JSON for an era. */
export type ListItem = { name: string; render: (era: Era) => string }

/** The key that holds an item's name. */
type ItemKey = 'name' | 'uri' | 'uriTemplate'

/** A rendered page, from after the result's opening brace to the closing brace of the envelope. */
type Page = {
  /** Name of the page's last item. */
  last: string
  session: Buffer
  /** The same buffer as `session`, unless an item differs between the eras. */
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

/** Allocates separate memory, because a buffer from Node's pool would keep the whole pool alive. */
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
 * A list as pages of rendered bytes; nothing else stays in memory. `items` must be sorted by name (by code unit).
 * `member` is the result's key for the items, `key` an item's key for its name. A cursor contains the name of the
 * previous page's last item, so it stays valid after the list changes: the page is then built on demand.
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
    /** Whether both lists look the same to clients. */
    isEqual: (other: { pages: readonly Page[] }): boolean =>
      pages.length === other.pages.length &&
      pages.every((page, index) => other.pages[index]?.session.equals(page.session)),
    pages,
  }
}
export type Listing = ReturnType<typeof createListing>
