import { CHANGE_PARTS, type ChangeCounts, type ChangePart } from '../../imports/again/compared-items.store.ts'
import type { ToolChange } from '../../imports/again/import-changes.service.ts'
import { choosablePieces, type PieceChange, sideOfPiece } from '../../imports/merge/compare-tools.ts'
import { formatCount, formatNumber } from '../../lib/kernel/format.ts'
import { serverTabPath } from '../frame/server-frame.ts'
import { textsOfPiece } from './piece-texts.ts'
import { choiceName, piecesName } from './review-forms.ts'
import { type ReviewQuery, reviewAddress } from './review-query.ts'

/** Tools of a part on the overview of all parts, and on a page of one part. */
export const CHANGES_SHOWN = 25
export const CHANGES_PER_PAGE = 100
const MAX_SERVERS_NAMED = 5
const MAX_EDITS_NAMED = 8

const PART_TEXTS = {
  breaking: { title: 'Breaking for callers', note: 'Calls that work now may fail.' },
  conflict: { title: 'Changed here and in the source', note: 'Yours stays unless you choose the new one.' },
  changed: { title: 'Changed', note: 'Edits by hand stay.' },
  wording: { title: 'Wording only', note: 'Descriptions for models and people.' },
} as const satisfies Record<ChangePart, { title: string; note: string }>

const PIECE_TEXTS: Readonly<Record<string, string>> = {
  request: 'Request',
  'url.path': 'URL',
  timeoutMs: 'Timeout',
  retries: 'Retries',
  callPrice: 'Price per call',
  templateRules: 'Template rules',
  inputSchema: 'Input schema',
  outputSchema: 'Output schema',
  response: 'Response shaping',
  pagination: 'Next page',
  allowedOrigins: 'Allowed origins',
  cacheSeconds: 'Cache',
  cacheShared: 'Shared cache',
}

const GROUP_TEXTS: Readonly<Record<string, string>> = {
  'url.query': 'Query parameter',
  headers: 'Header',
  body: 'Body member',
  parameters: 'Parameter',
  annotations: 'Annotation',
}

/** Returns the name of a piece for readers: `Parameter limit` for `parameters.limit`. */
const nameOfPiece = (piece: string): string => {
  const known = PIECE_TEXTS[piece]
  if (known !== undefined) return known
  for (const [group, text] of Object.entries(GROUP_TEXTS)) {
    if (piece.startsWith(`${group}.`)) return `${text} ${piece.slice(group.length + 1)}`
  }
  return piece.charAt(0).toUpperCase() + piece.slice(1)
}

const toPiece = (change: PieceChange) => {
  // A parameter without metadata is there, too.
  const isWhole = !change.piece.startsWith('parameters.')
  return {
    name: nameOfPiece(change.piece),
    ...textsOfPiece(change),
    isAdded: isWhole && change.mine === undefined,
    isRemoved: isWhole && change.theirs === undefined,
  }
}

/** Names the parts that stay as somebody edited them. Undefined if there are none. */
const namesOfKept = (kept: readonly PieceChange[]): string | undefined => {
  const names = kept.slice(0, MAX_EDITS_NAMED).map(({ piece }) => nameOfPiece(piece))
  const more = kept.length - names.length
  return names.length === 0 ? undefined : [...names, ...(more > 0 ? [`${formatNumber(more)} more`] : [])].join(', ')
}

/** A conflict, with the names of its form fields if a version can be chosen. */
const toConflict = (change: PieceChange, { key, pieces, resolve }: ToolChange) => ({
  ...toPiece(change),
  choice: choosablePieces(pieces).includes(change.piece)
    ? { piece: change.piece, name: choiceName(key, change.piece), side: sideOfPiece(resolve, change.piece) }
    : undefined,
})

const stateOf = ({ state }: ToolChange) => {
  if (state === 'gone') return { text: 'Gone', state: 'failed' as const }
  return state === 'conflict'
    ? { text: 'Conflict', state: 'rejected' as const }
    : { text: 'Changed', state: 'good' as const }
}

const toServers = ({ usedBy }: ToolChange) => ({
  servers: usedBy.slice(0, MAX_SERVERS_NAMED).map(({ id, name }) => ({ href: serverTabPath(id, 'tools'), name })),
  moreServers: usedBy.length > MAX_SERVERS_NAMED ? formatNumber(usedBy.length - MAX_SERVERS_NAMED) : undefined,
})

const idOf = ({ position }: ToolChange): string => `change-${position}`

const isConflict = ({ state }: ToolChange): boolean => state === 'conflict'

const toChange = (change: ToolChange, path: string, query: ReviewQuery) => {
  const { key, state, toolId, toolName, selected, pieces, breaking } = change
  return {
    id: idOf(change),
    key,
    name: toolName,
    href: `/tools/${toolId}`,
    operation: key.replace(/ \(gone \d+\)$/, ''),
    openHref:
      state === 'gone' ? undefined : `${reviewAddress(path, { ...query, cursor: undefined, open: key })}#opened`,
    status: stateOf(change),
    isGone: state === 'gone',
    isSelected: selected,
    kept: namesOfKept(pieces.filter(one => one.change === 'mine')),
    breaking: breaking.map(({ message }) => message),
    conflicts: pieces.filter(one => one.change === 'conflict').map(one => toConflict(one, change)),
    piecesName: piecesName(key),
    changes: pieces.filter(one => one.change === 'theirs').map(toPiece),
    ...toServers(change),
  }
}

export type ListedChanges = { part: ChangePart; items: readonly ToolChange[]; hasMore: boolean }

/** Tools that an import can update: those of all parts, without those whose operation is gone. */
const changedOf = (counts: ChangeCounts): number =>
  CHANGE_PARTS.reduce((sum, part) => sum + counts[part], 0) - counts.gone

/** Returns the tab with what the source changes in the tools that were imported from it. */
export const toChanges = (
  counts: ChangeCounts,
  listed: readonly ListedChanges[],
  query: ReviewQuery,
  path: string,
) => ({
  figures: [
    { text: 'Breaking', count: formatNumber(counts.breaking), state: counts.breaking > 0 ? 'failed' : undefined },
    { text: 'Changed', count: formatNumber(changedOf(counts)), state: undefined },
    { text: 'Gone', count: formatNumber(counts.gone), state: undefined },
    { text: 'Added', count: formatNumber(counts.added), state: undefined },
    { text: 'Unchanged', count: formatNumber(counts.same), state: undefined },
  ],
  parts: listed
    .filter(({ items }) => items.length > 0)
    .map(({ part, items, hasMore }) => ({
      id: part,
      ...PART_TEXTS[part],
      count: formatCount(counts[part], 'tool'),
      changes: items.map(item => toChange(item, path, query)),
      next: hasMore
        ? reviewAddress(path, {
            ...query,
            part,
            cursor: query.part === undefined ? undefined : String(items.at(-1)?.position),
          })
        : undefined,
    })),
  isNothing: CHANGE_PARTS.every(part => counts[part] === 0),
  isPart: query.part !== undefined,
  all: reviewAddress(path, { view: 'changes' }),
  added:
    counts.added === 0
      ? undefined
      : {
          text: formatCount(counts.added, 'new operation'),
          href: reviewAddress(path, { view: 'operations', state: 'new' }),
        },
  address: reviewAddress(path, query),
  /** Parts of the page to replace after a choice: breaking changes depend on how conflicts are resolved. */
  changing: [
    '#tabs',
    ...listed.flatMap(({ items }) => items.filter(isConflict).map(one => `#${idOf(one)}-effect`)),
  ].join(),
})
