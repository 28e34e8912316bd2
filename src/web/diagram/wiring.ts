import { formatNumber } from '../../lib/kernel/format.ts'
import type { DiagramContent, Panel, Row } from './diagram-content.ts'
import { describeValue } from './draw.ts'
import { plainText } from './text.ts'

const textOf = (row: Row): string => {
  switch (row.source) {
    case 'fixed':
      return row.value
    case 'global':
    case 'secret':
      return row.value === undefined ? row.key : `${row.key} in ${row.value}`
    case 'exposed':
      return 'from the model'
    case 'missing':
      return row.key === undefined ? 'no value' : `no “${row.key}”`
  }
}

/** Converts a row. `source` is undefined if the parameter has no value; `text` says so or names the missing global. */
const toRow = (row: Row) => ({
  name: plainText(row.name),
  count: row.count === undefined ? undefined : `×${formatNumber(row.count)}`,
  source: row.source === 'missing' ? undefined : row.source,
  text: plainText(textOf(row)),
})

const toPanel = ({ name, href, meta, isFailed, left, right, hiddenRows }: Panel) => ({
  name: plainText(name),
  href,
  meta: plainText(meta),
  isFailed,
  rows: [...left, ...right].map(toRow),
  more: hiddenRows === 0 ? undefined : `and ${formatNumber(hiddenRows)} more`,
})

/** Returns the content of the diagram as a list. */
export const toWiring = ({ sources, rack, callers }: DiagramContent) => ({
  sources: sources.map(({ name, href, health, state, panels }) => ({
    name: plainText(name),
    href,
    health: plainText(health),
    state,
    panels: panels.map(toPanel),
  })),
  globals: rack.rows.map(global => ({
    source: global.source,
    text: plainText(global.key),
    value: plainText(describeValue(global)),
  })),
  moreGlobals: rack.hiddenGlobals === 0 ? undefined : `${formatNumber(rack.hiddenGlobals)} more`,
  callers: {
    tier: callers.tier,
    list: callers.list.map(({ name, activity, state }) => ({
      name: plainText(name),
      activity: plainText(activity),
      state,
    })),
  },
})
export type Wiring = ReturnType<typeof toWiring>
