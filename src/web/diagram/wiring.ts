import { formatNumber } from '../../lib/http/pages/format.ts'
import type { DiagramContent, Panel, Row } from './diagram-content.ts'
import { describeValue } from './draw-rack.ts'
import type { PatchState } from './patch.ts'
import { plainText } from './text.ts'

/** The content of the diagram as a list. */
export type Wiring = {
  sources: readonly {
    name: string
    href: string | undefined
    health: string
    state: PatchState
    panels: readonly WiringPanel[]
  }[]
  globals: readonly { source: 'global' | 'secret'; text: string; value: string }[]
  /** Such as "3 more". */
  moreGlobals: string | undefined
  callers: { tier: string; list: readonly { name: string; activity: string; state: 'good' | 'idle' }[] }
}

export type WiringPanel = {
  name: string
  href: string | undefined
  meta: string
  isFailed: boolean
  rows: readonly WiringRow[]
  more: string | undefined
}

/** `source` is undefined if the parameter has no value; `text` then names the missing global. */
export type WiringRow = {
  name: string
  count: string | undefined
  source: 'fixed' | 'global' | 'secret' | 'exposed' | undefined
  text: string
}

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

const toRow = (row: Row): WiringRow => ({
  name: plainText(row.name),
  count: row.count === undefined ? undefined : `×${formatNumber(row.count)}`,
  source: row.source === 'missing' ? undefined : row.source,
  text: plainText(textOf(row)),
})

const toPanel = ({ name, href, meta, isFailed, left, right, hiddenRows }: Panel): WiringPanel => ({
  name: plainText(name),
  href,
  meta: plainText(meta),
  isFailed,
  rows: [...left, ...right].map(toRow),
  more: hiddenRows === 0 ? undefined : `and ${formatNumber(hiddenRows)} more`,
})

export const toWiring = ({ sources, rack, callers }: DiagramContent): Wiring => ({
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
