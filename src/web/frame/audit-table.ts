import { isJsonObject, type JsonValue } from '../../kernel/index.ts'
import { addressOf, formText, idPageOf, parseForm, timeText, toIdPage } from '../http/index.ts'
import { AuditQuery, filterOf } from './audit.schema.ts'
import { AUDIT_ACTIONS, type AuditEntry, type AuditScope } from './audit-entry.ts'
import type { AuditLog } from './audit-log.ts'

const ENTRIES_PER_PAGE = 50
const DAY_MS = 24 * 60 * 60 * 1_000
/** Of one value in the column of changes; the file has all of it. */
const MAX_VALUE_CHARACTERS = 120

const Typed = { action: formText, actorId: formText, from: formText, to: formText, cursor: formText }
/** What is said beside a field of the filter. */
const REFUSALS: ReadonlyMap<string, string> = new Map([
  ['action', 'There is nothing of this kind: choose one of the list.'],
  ['from', 'This is no date such as 2026-11-22.'],
  ['to', 'This is no date such as 2026-11-22.'],
])
const DATE = /^\d{4}-\d{2}-\d{2}$/

/** `role_changed` as people say it. */
const inWords = (name: string): string =>
  name
    .replaceAll(/[._]/g, ' ')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/^oauth\b/, 'OAuth')

const capitalized = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`

const valueText = (value: JsonValue | undefined): string => {
  if (value === undefined || value === null) return 'none'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(valueText).join(', ')
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > MAX_VALUE_CHARACTERS ? `${text.slice(0, MAX_VALUE_CHARACTERS - 1).toWellFormed()}…` : text
}

/** `role: viewer → builder; serversTo: …` as a line. */
const changeText = (change: JsonValue | undefined): string | undefined => {
  if (change === undefined || change === null) return undefined
  if (!isJsonObject(change)) return valueText(change)
  const parts = Object.entries(change).map(([name, value]) =>
    isJsonObject(value) && 'from' in value && 'to' in value
      ? `${inWords(name)}: ${valueText(value.from)} → ${valueText(value.to)}`
      : `${inWords(name)}: ${valueText(value)}`,
  )
  return parts.join('; ')
}

/** Kinds of things that something was done to, as options of a filter. */
const kindOptions = (kinds: readonly string[] | undefined) => [
  { value: '', text: 'everything' },
  ...[...new Set(AUDIT_ACTIONS.map(action => action.slice(0, action.indexOf('.') + 1)))]
    .filter(kind => kinds === undefined || kinds.includes(kind.slice(0, -1)))
    .map(kind => ({ value: kind, text: `${inWords(kind.slice(0, -1))}s` })),
]

/** The day after, since people mean the whole of the day up to which they want to see. */
const untilEndOf = (day: string): string => {
  const time = DATE.test(day) ? Date.parse(day) : Number.NaN
  return Number.isNaN(time) ? day : new Date(time + DAY_MS).toISOString()
}

const given = (values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))

export type AuditTableOptions = {
  scope: AuditScope
  /** What the page's address says. */
  query: unknown
  /** Where the page is, and the route of the API that gives the same as a file. */
  path: string
  filePath: string
  /** Kinds that can be in it, as `member`; undefined: all. */
  kinds?: readonly string[]
}

/** The log as a page shows it, filtered as its address says; what is no filter is said beside its field. */
export const readAuditTable = async (log: AuditLog, { scope, query, path, filePath, kinds }: AuditTableOptions) => {
  const typed = parseForm(Typed, query)
  const { cursor, ...filters } = typed
  const wish = { ...filters, to: untilEndOf(filters.to) }
  const parsed = AuditQuery.safeParse(given({ ...wish, cursor }))
  const shown = { typed, kinds: kindOptions(kinds), path }
  if (!parsed.success) {
    const names = new Set(parsed.error.issues.map(({ path: [name] }) => String(name)))
    const errors = Object.fromEntries([...names].map(name => [name, REFUSALS.get(name) ?? 'This is not of this list.']))
    return { ...shown, isBad: true, errors, entries: [], next: undefined, fileHref: undefined, who: undefined }
  }
  const page = idPageOf({ ...parsed.data, limit: ENTRIES_PER_PAGE })
  const toRow = (entry: AuditEntry) => ({
    at: timeText(entry.at),
    atIso: entry.at.toISOString(),
    who: entry.actorEmail ?? (entry.actorId === undefined ? undefined : 'somebody'),
    whoHref: entry.actorId && addressOf(path, { ...filters, actorId: entry.actorId }),
    address: entry.address,
    what: capitalized(inWords(entry.action)),
    target: entry.target.name ?? entry.target.id,
    change: changeText(entry.change),
  })
  const { items, nextCursor } = toIdPage(await log.list(scope, filterOf(parsed.data), page), page, entry => ({
    id: entry.id,
    ...toRow(entry),
  }))
  return {
    ...shown,
    isBad: false,
    errors: {},
    entries: items,
    next: nextCursor === null ? undefined : addressOf(path, { ...filters, cursor: nextCursor }),
    fileHref: addressOf(filePath, { ...wish, format: 'ndjson' }),
    /** Who alone is shown, and the way back to all. */
    who:
      typed.actorId === ''
        ? undefined
        : { name: items[0]?.who ?? 'this person', allHref: addressOf(path, { ...filters, actorId: '' }) },
  }
}
