import { describeFound, shownFound, type ToolkitSource } from '../../imports/again/toolkit-source.ts'
import { shownTime } from '../../lib/http/pages/time-text.ts'

const KINDS = {
  openapi: 'API description',
  postman: 'Postman collection',
  curl: 'cURL commands',
  har: 'HAR file',
} as const satisfies Record<ToolkitSource['kind'], string>

export const INTERVAL_OPTIONS = [
  { value: '', text: 'Never' },
  { value: 'day', text: 'Every day' },
  { value: 'week', text: 'Every week' },
] as const

/** Returns what a check found, as a badge. Undefined if nothing has changed. */
export const toFoundBadge = (source: ToolkitSource | undefined) => {
  const found = shownFound(source?.found)
  return found === undefined
    ? undefined
    : { text: describeFound(found), state: found.breaking > 0 ? ('failed' as const) : ('rejected' as const) }
}

/** Returns the section of a toolkit's page about where its tools come from. */
export const toSourceSection = (source: ToolkitSource) => ({
  path: `/toolkits/${source.toolkitId}/source`,
  kind: KINDS[source.kind],
  title: source.title,
  url: source.url,
  interval: INTERVAL_OPTIONS.find(({ value }) => value === (source.checkEvery ?? ''))?.text,
  checked: source.checkedAt && shownTime(source.checkedAt),
  problem: source.problem,
  found: toFoundBadge(source),
  importHref: `/toolkits/${source.toolkitId}/imports`,
})
