import { AuditQuery } from '../../identity/audit/audit.schema.ts'
import { AUDIT_ACTIONS, type AuditEntry, type AuditScope } from '../../identity/audit/audit-entry.ts'
import type { AuditLog } from '../../identity/audit/audit-log.ts'
import { addressOf } from '../../lib/http/list-query.ts'
import { formText, parseForm } from '../../lib/http/pages/forms.ts'
import { exactTime } from '../../lib/http/pages/time-text.ts'
import { startOfDay, startOfNextDay, timeZone } from '../../lib/http/pages/zoned-days.ts'
import { shorten } from '../../lib/kernel/format.ts'
import { isJsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { readList } from './user-page.ts'

const ENTRIES_PER_PAGE = 50
/** Maximum length of a value in the change column. The download has the whole value. */
const MAX_VALUE_CHARACTERS = 120

const Typed = { action: formText, actorId: formText, from: formText, to: formText, zone: formText, cursor: formText }
/** Error messages for the filter fields. */
const REFUSALS: ReadonlyMap<string, string> = new Map([
  ['action', 'Choose an action from the list.'],
  ['from', 'Enter a date such as 2026-11-22.'],
  ['to', 'Enter a date such as 2026-11-22.'],
])
const DATE = /^\d{4}-\d{2}-\d{2}$/

/** Turns an identifier such as `role_changed` into words, as in "role changed". */
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
  return shorten(typeof value === 'string' ? value : JSON.stringify(value), MAX_VALUE_CHARACTERS)
}

/** Formats a change as one line, such as `role: viewer → builder; servers to: …`. */
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

/** Returns the kinds of audit targets as filter options. */
const kindOptions = (kinds: readonly string[] | undefined) => [
  { value: '', text: 'All' },
  ...[...new Set(AUDIT_ACTIONS.map(action => action.slice(0, action.indexOf('.') + 1)))]
    .filter(kind => kinds === undefined || kinds.includes(kind.slice(0, -1)))
    .map(kind => ({ value: kind, text: `${inWords(kind.slice(0, -1))}s` })),
]

/** Converts a date in the reader's time zone to a time. Returns other text unchanged, to be refused. */
const toTime = (day: string, zone: string, convert: typeof startOfDay): string =>
  DATE.test(day) && !Number.isNaN(Date.parse(day)) ? convert(day, zone).toISOString() : day

/** Returns the criteria of the filters. The end day is inclusive. */
const toCriteria = ({ zone: typed, from, to, ...filters }: Record<Exclude<keyof typeof Typed, 'cursor'>, string>) => {
  const zone = timeZone.parse(typed)
  return { ...filters, from: toTime(from, zone, startOfDay), to: toTime(to, zone, startOfNextDay) }
}

const given = (values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))

export type AuditTableOptions = {
  scope: AuditScope
  /** The page's query parameters. */
  query: unknown
  /** Path of the page. `filePath` is the API route that returns the log as a file. */
  path: string
  filePath: string
  /** Kinds of targets that the log can contain, such as `member`. Undefined means all kinds. */
  kinds?: readonly string[]
}

/** Reads one page of the audit log for display, filtered by the query. Reports invalid filters per field. */
export const readAuditTable = async (log: AuditLog, { scope, query, path, filePath, kinds }: AuditTableOptions) => {
  const typed = parseForm(Typed, query)
  const { cursor, ...filters } = typed
  const criteria = toCriteria(filters)
  const parsed = AuditQuery.safeParse(given({ ...criteria, cursor }))
  const shown = { typed, kinds: kindOptions(kinds), path }
  if (!parsed.success) {
    const names = new Set(parsed.error.issues.map(({ path: [name] }) => String(name)))
    const errors = Object.fromEntries([...names].map(name => [name, REFUSALS.get(name) ?? 'Invalid value.']))
    return { ...shown, isBad: true, errors, entries: [], next: undefined, fileHref: undefined, who: undefined }
  }
  const toRow = (entry: AuditEntry) => ({
    id: entry.id,
    at: exactTime(entry.at),
    who: entry.actorEmail ?? (entry.actorId === undefined ? undefined : 'Unknown user'),
    whoHref: entry.actorId && addressOf(path, { ...filters, actorId: entry.actorId }),
    address: entry.address,
    what: capitalized(inWords(entry.action)),
    target: entry.target.name ?? entry.target.id,
    change: changeText(entry.change),
  })
  const place = { path, cursor: parsed.data.cursor, query: filters, limit: ENTRIES_PER_PAGE }
  const { items, next } = await readList(place, page => log.list(scope, parsed.data, page), toRow)
  return {
    ...shown,
    isBad: false,
    errors: {},
    entries: items,
    next,
    fileHref: addressOf(filePath, { ...criteria, format: 'ndjson' }),
    /** The user by whom the list is filtered, and a link that removes the filter. */
    who:
      typed.actorId === ''
        ? undefined
        : { name: items[0]?.who ?? 'this user', allHref: addressOf(path, { ...filters, actorId: '' }) },
  }
}
