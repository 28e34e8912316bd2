import type { Tool } from '../../tools/tool.ts'
import type { ServerRef } from '../../tools/toolkits.service.ts'

/** Characters shown in a row of a table; the tool's own page has the rest. */
const MAX_SHOWN_CHARACTERS = 90
/** Servers named in a row. */
const MAX_SERVERS_NAMED = 2

/** Of a server's name, which stands in a column that is not to grow wide. */
const MAX_NAME_CHARACTERS = 24

const shorten = (text: string, most = MAX_SHOWN_CHARACTERS): string =>
  text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`

/** A tool as a row of a toolkit's table shows it. */
export const toToolRow = ({ id, name, title, description, method, url }: Tool, usedBy: readonly ServerRef[] = []) => ({
  href: `/tools/${id}`,
  name,
  title,
  description: description === undefined ? undefined : shorten(description),
  method,
  url: shorten(url),
  wholeUrl: url,
  usedBy: usedBy.slice(0, MAX_SERVERS_NAMED).map(server => ({
    href: `/servers/${server.id}`,
    name: server.name,
    shownName: shorten(server.name, MAX_NAME_CHARACTERS),
  })),
  moreServers: Math.max(0, usedBy.length - MAX_SERVERS_NAMED),
})

/** Tools in one page of a toolkit's. */
export const TOOLS_PER_PAGE = 100

/** Rows of which one more than a page was asked for, and the name that the next page comes after. */
export const toToolPage = <T>(rows: readonly T[], nameOf: (row: T) => string) => {
  const items = rows.slice(0, TOOLS_PER_PAGE)
  const last = items.at(-1)
  return { items, after: rows.length > TOOLS_PER_PAGE && last !== undefined ? nameOf(last) : undefined }
}
