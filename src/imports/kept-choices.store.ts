import type { Transaction } from '../lib/db/client.ts'
import type { ReadOperation } from './import.ts'

/** What the builder chose for an operation before its source was read again. */
export type KeptChoice = { selected: boolean; edits: object | undefined; tokens: number | null }

/** Lists what the builder chose for the operations of an import that could become tools, by key. */
export const listChoices = async (tx: Transaction, importId: string): Promise<ReadonlyMap<string, KeptChoice>> => {
  const rows = await tx.importItem.findMany({
    where: { importId, reason: null },
    select: { key: true, selected: true, edits: true, tokens: true },
  })
  return new Map(
    rows.map(({ key, selected, edits, tokens }) => {
      const changed = typeof edits === 'object' && edits !== null ? edits : undefined
      return [key, { selected, edits: changed, tokens }] as const
    }),
  )
}

/** Returns the columns that keep the builder's edits, with the tokens of the edited tool. */
export const toChoiceColumns = (choice: KeptChoice | undefined, operation: ReadOperation) =>
  choice?.edits === undefined || !('tool' in operation) ? {} : { edits: choice.edits, tokens: choice.tokens }
