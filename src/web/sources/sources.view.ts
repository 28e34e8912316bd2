import { shownTime } from '../../lib/http/pages/time-text.ts'
import { formatCount } from '../../lib/kernel/format.ts'
import type { JsonValue } from '../../lib/kernel/json.ts'
import type { WiredPanel } from '../../servers/bindings/bindings.service.ts'
import type { UsedToolkit } from '../../servers/sources/toolkit-uses.service.ts'
import type { AddableToolkit } from '../../servers/tools/tool-picks.store.ts'
import { describeDefault } from '../../tools/lint/unbound-defaults.ts'
import { serverTabPath } from '../frame/server-frame.ts'
import { instancePath } from '../server-tools/tools.pages.ts'

/** Labels for a tool's fields. */
const FIELD_LABELS: Readonly<Record<string, string>> = {
  url: 'URL',
  timeoutMs: 'timeout, ms',
  retries: 'retries',
  callPrice: 'price per call',
  inputSchema: 'input schema',
  outputSchema: 'output schema',
  allowedOrigins: 'allowed origins',
  response: 'response rules',
  templateRules: 'template rules (2 encodes values in XML, multipart bodies and cookies)',
}

export const sourcePath = (serverId: string, toolkitId: string): string =>
  `${serverTabPath(serverId, 'sources')}/${toolkitId}`

type Update = NonNullable<NonNullable<UsedToolkit['snapshot']>['update']>

/** Summarizes a pending update, as in "2 tools added, 1 tool changed". */
const updateInWords = ({ added, changed, removed }: Update): string =>
  Object.entries({ added, changed, removed })
    .flatMap(([what, tools]) => (tools.length === 0 ? [] : `${formatCount(tools.length, 'tool')} ${what}`))
    .join(', ')

export const toSourceRow = (serverId: string, used: UsedToolkit, toolsInUse: number) => ({
  href: sourcePath(serverId, used.id),
  title: used.title,
  isForeign: used.snapshot !== undefined,
  taken: used.snapshot && shownTime(used.snapshot.takenAt),
  tools: toolsInUse === 0 ? 'no tools used' : `${formatCount(toolsInUse, 'tool')} used`,
  update: used.snapshot?.update && updateInWords(used.snapshot.update),
})

const valueText = (value: JsonValue): string => {
  if (value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}

/** Returns the changes in a pending update, prepared for display. */
export const toDifference = ({ version, added, changed, removed }: Update) => ({
  version,
  added,
  removed,
  changed: changed.map(({ name, changes }) => ({
    name,
    changes: changes.map(({ field, from, to }) => ({
      field: FIELD_LABELS[field] ?? field,
      from: valueText(from),
      to: valueText(to),
    })),
  })),
})

/** Maximum tools of a toolkit listed by name. Any others are only counted. */
const MAX_NAMED = 100

export const toAtWorkList = (serverId: string, atWork: readonly WiredPanel[]) => ({
  items: atWork.slice(0, MAX_NAMED).map(({ id, name, tool }) => ({
    href: instancePath(serverId, id),
    text: name,
    note: tool.name === name ? undefined : tool.name,
  })),
  more: atWork.length > MAX_NAMED ? `and ${formatCount(atWork.length - MAX_NAMED, 'more tool')}` : undefined,
})

/** Lists the parameters that nobody has bound since their tools got a default for them. Undefined if there are none. */
export const toUnboundList = (serverId: string, atWork: readonly WiredPanel[]) => {
  const items = atWork.flatMap(({ id, name, sockets }) =>
    sockets.flatMap(({ parameter, unboundDefault }) =>
      unboundDefault === undefined
        ? []
        : { href: instancePath(serverId, id), tool: name, parameter, text: describeDefault(unboundDefault) },
    ),
  )
  if (items.length === 0) return undefined
  const more = items.length - MAX_NAMED
  return { items: items.slice(0, MAX_NAMED), more: more > 0 ? `and ${formatCount(more, 'more value')}` : undefined }
}

export const toAddableRow = ({ id, title, description, organizationName, isOwn, tools }: AddableToolkit) => ({
  id,
  title,
  description,
  organizationName: isOwn ? undefined : organizationName,
  isOwn,
  tools: formatCount(tools, 'tool'),
  href: isOwn ? `/toolkits/${id}` : `/gallery/${id}`,
})
