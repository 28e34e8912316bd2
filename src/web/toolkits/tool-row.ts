import { shownTime } from '../../lib/http/pages/time-text.ts'
import { shorten } from '../../lib/kernel/format.ts'
import type { Tool } from '../../tools/tool.ts'
import type { ServerRef } from '../../tools/toolkits.service.ts'

const MAX_SHOWN_CHARACTERS = 90
const MAX_SERVERS_NAMED = 2

const MAX_NAME_CHARACTERS = 24

export const toToolRow = (
  { id, name, title, description, method, url, updatedAt }: Tool,
  usedBy: readonly ServerRef[] = [],
) => ({
  id,
  href: `/tools/${id}`,
  name,
  title,
  description: description === undefined ? undefined : shorten(description, MAX_SHOWN_CHARACTERS),
  method,
  url: shorten(url, MAX_SHOWN_CHARACTERS),
  wholeUrl: url,
  usedBy: usedBy.slice(0, MAX_SERVERS_NAMED).map(server => ({
    href: `/servers/${server.id}`,
    name: server.name,
    shownName: shorten(server.name, MAX_NAME_CHARACTERS),
  })),
  moreServers: Math.max(0, usedBy.length - MAX_SERVERS_NAMED),
  changed: shownTime(updatedAt),
})

export const TOOLS_PER_PAGE = 100

/**
 * Returns one page of `rows`, which has an extra row if there is a next page. `after` is the cursor of the next page.
 */
export const toToolPage = <T>(rows: readonly T[], nameOf: (row: T) => string) => {
  const items = rows.slice(0, TOOLS_PER_PAGE)
  const last = items.at(-1)
  return { items, after: rows.length > TOOLS_PER_PAGE && last !== undefined ? nameOf(last) : undefined }
}
