import type { Transaction } from '../lib/db/client.ts'
import type { ReadOperation } from './import.ts'

/** What the builder chose for an operation before its source was read again. */
export type KeptChoice = {
  selected: boolean
  edits: object | undefined
  tokens: number | null
  /** Whose version the tool keeps. Choices by piece are made again, because the pieces may be others. */
  resolve: 'mine' | 'theirs' | null
}

/** Lists what the builder chose for the operations of an import that could become tools, by key. */
export const listChoices = async (tx: Transaction, importId: string): Promise<ReadonlyMap<string, KeptChoice>> => {
  const rows = await tx.importItem.findMany({
    where: { importId, reason: null },
    select: { key: true, selected: true, edits: true, tokens: true, resolve: true },
  })
  return new Map(
    rows.map(({ key, edits, ...choice }) => {
      const changed = typeof edits === 'object' && edits !== null ? edits : undefined
      return [key, { ...choice, edits: changed }] as const
    }),
  )
}

/** Returns the columns that keep what the builder chose. What models see of the tool counts as before. */
export const toChoiceColumns = (choice: KeptChoice | undefined, operation: ReadOperation) => {
  if (choice === undefined || !('tool' in operation)) return {}
  const { edits, tokens, resolve } = choice
  return { resolve, ...(edits !== undefined && { edits, tokens }) }
}
