import { transact } from '../../lib/db/client.ts'
import { type CompareParts, compareImport, type ImportComparison } from '../again/compare-import.ts'
import { addGoneItems } from '../again/compared-items.store.ts'
import { openSourceUrl } from '../again/toolkit-source.ts'
import type { Import, ImportSummary, ReadOperation } from '../import.ts'
import { addItems, type NewItem, removeItems } from '../import-items.store.ts'
import { updateReading } from '../imports.store.ts'
import { type KeptChoice, listChoices } from '../kept-choices.store.ts'
import { MAX_OPERATIONS, MAX_PRESELECTED } from '../limits.ts'
import { withoutDetail } from '../note-detail.ts'
import { whyLeftOut } from '../preselection.ts'
import { type SourceEnd, type SourceHead, SourcePart } from '../source-parts.ts'
import { listToolRequests } from '../toolkit-requests.store.ts'
import { createDuplicates } from './duplicates.ts'

/** The import was removed, or another process took it for abandoned. */
export class ReadingStopped extends Error {
  override readonly name = 'ReadingStopped'
}

/** Returns whether an operation may be selected at first. */
const isPreselectable = (operation: ReadOperation): boolean =>
  'tool' in operation && whyLeftOut(operation) === undefined

const uncompared = (one: { operation: ReadOperation; position: number }): NewItem => ({ ...one, comparison: undefined })

/** Returns a function that returns the value that a source has for a base URL. */
const baseUrlsOf = ({ baseUrls, globals }: SourceHead) => {
  const values = new Map([...baseUrls, ...globals].map(({ key, value }) => [key, value]))
  return (key: string): string | undefined => values.get(key)
}

/** Counts what a summary says about all operations. */
const createCounts = () => {
  const tags = new Map<string, number>()
  const rules = new Map<string, ImportSummary['rules'][number]>()
  const remarks = new Set<string>()
  return {
    addTags: (operation: ReadOperation): void => {
      for (const tag of new Set(operation.tags)) tags.set(tag, (tags.get(tag) ?? 0) + 1)
    },
    addFindings: (operation: ReadOperation): void => {
      if (!('tool' in operation)) {
        remarks.add(operation.reason)
        return
      }
      for (const note of operation.notes) remarks.add(withoutDetail(note))
      for (const [rule, { level }] of new Map(operation.findings.map(finding => [finding.rule, finding]))) {
        rules.set(rule, { rule, level, operations: (rules.get(rule)?.operations ?? 0) + 1 })
      }
    },
    /** Returns the tags in the order of the source, those that it does not describe last. */
    tags: (described: SourceHead['tags']): ImportSummary['tags'] => {
      const known = new Map(described.map(tag => [tag.name, tag]))
      const names = new Set([...known.keys(), ...tags.keys()])
      return [...names].map(name => ({ ...(known.get(name) ?? { name }), operations: tags.get(name) ?? 0 }))
    },
    rules: (): ImportSummary['rules'] => [...rules.values()],
    remarks: (): number => remarks.size,
  }
}

/**
 * Stores the parts of a source as its reader sends them. A head starts from the beginning. If the source was imported
 * before, compares its operations with the tools.
 */
export const createPartStore = (parts: CompareParts, { id: importId, toolkitId, ...one }: Import) => {
  const { db } = parts
  let head: SourceHead | undefined
  let comparison: ImportComparison | undefined
  let counts = createCounts()
  let duplicates = createDuplicates([], () => undefined)
  let keys = new Map<string, number>()
  let position = 0
  /** What the builder chose before the source was read again. Undefined until it is known. */
  let kept: ReadonlyMap<string, KeptChoice> | undefined

  const assertStored = (isStored: boolean): void => {
    if (!isStored) throw new ReadingStopped()
  }

  const summaryOf = (end?: Pick<SourceEnd, 'baseUrls' | 'globals' | 'notes'>): ImportSummary => {
    if (head === undefined) throw new Error('the reader sent no head')
    const { format, title, version, description, webhooks } = head
    const { baseUrls, globals, notes } = end ?? { ...head, notes: [] }
    // Named one by one: the end also has the values of secrets.
    return {
      ...{ format, title, version, description, webhooks, baseUrls, globals, notes },
      tags: counts.tags(head.tags),
      rules: counts.rules(),
      remarks: counts.remarks(),
    }
  }

  const begin = async (next: SourceHead, sha256: string): Promise<void> => {
    head = next
    const { kind: kindOfSource, title } = next
    const url = openSourceUrl(parts.sealing, { toolkitId, url: one.sourceUrl, sealedUrl: one.sealedUrl })
    comparison = await compareImport(parts, { toolkitId, url, kind: kindOfSource, title, sha256 })
    counts = createCounts()
    duplicates = createDuplicates(await listToolRequests(db, toolkitId), baseUrlsOf(next))
    keys = new Map()
    position = 0
    await transact(db, async tx => {
      kept ??= await listChoices(tx, importId)
      await removeItems(tx, importId)
      const { kind, total } = next
      assertStored(await updateReading(tx, importId, { kind, summary: summaryOf(), read: 0, total }))
    })
  }

  /** Two operations can have one key, for example if a method is written in two ways. */
  const withOwnKey = (operation: ReadOperation): ReadOperation => {
    const count = (keys.get(operation.key) ?? 0) + 1
    keys.set(operation.key, count)
    return count === 1 ? operation : withOwnKey({ ...operation, key: `${operation.key} (${count})` })
  }

  const isSelected = ({ operation, comparison: known }: NewItem): boolean => {
    const choice = 'tool' in operation ? kept?.get(operation.key) : undefined
    if (choice !== undefined) return choice.selected
    if (known !== undefined) return known.state !== 'same' && 'tool' in operation
    // Of a description, those that are not there were not wanted, or are new.
    if (comparison?.isComplete === true) return false
    return (head?.total ?? 0) <= MAX_PRESELECTED && isPreselectable(operation) && !duplicates.isInToolkit(operation.key)
  }

  /** Marks duplicates, and counts the rules of all findings. */
  const withDuplicates = (items: readonly NewItem[]): NewItem[] =>
    items.map(item => {
      const operation = duplicates.mark(item.operation, item.comparison !== undefined)
      counts.addFindings(operation)
      return { ...item, operation }
    })

  const add = async (given: readonly ReadOperation[], unfilled: readonly string[]): Promise<void> => {
    if (position + given.length > MAX_OPERATIONS) throw new Error('the reader sent too many operations')
    const operations = given.map((operation, index) => ({
      operation: withOwnKey(operation),
      position: position + index,
    }))
    for (const { operation } of operations) counts.addTags(operation)
    const items = withDuplicates(
      comparison === undefined ? operations.map(uncompared) : await comparison.add(operations, unfilled),
    )
    position += operations.length
    await transact(db, async tx => {
      assertStored(await updateReading(tx, importId, { read: position }))
      await addItems(tx, importId, items, isSelected, kept)
    })
  }

  const finish = async (): Promise<void> => {
    if (comparison === undefined) return
    const { compared, gone } = await comparison.finish()
    const rest = withDuplicates(compared)
    await transact(db, async tx => {
      assertStored(await updateReading(tx, importId, { read: position }))
      await addItems(tx, importId, rest, isSelected, kept)
      await addGoneItems(tx, { importId, position }, gone)
    })
  }

  return {
    /** Stores a part of the source with this hash. */
    put: async (text: string, sha256: string): Promise<void> => {
      const part = SourcePart.parse(JSON.parse(text))
      await ('head' in part ? begin(part.head, sha256) : add(part.operations, part.unfilled))
    },
    /** Stores what is certain only once all operations have been read. */
    finish,
    /** Returns the summary with what is known at the end. */
    summaryOf,
  }
}

export type PartStore = ReturnType<typeof createPartStore>
