import type { Transaction } from '../lib/db/client.ts'
import { ImportEdits, type ReadOperation } from './import.ts'

/** What the builder chose for an operation before its source was read again. */
export type KeptChoice = {
  selected: boolean
  edits: ImportEdits | undefined
  /** The name that the tool had without edits, with which its tokens were counted. */
  name: string | null
  tokens: number | null
}

/** Lists what the builder chose for the operations of an import that could become tools, by key. */
export const listChoices = async (tx: Transaction, importId: string): Promise<ReadonlyMap<string, KeptChoice>> => {
  const rows = await tx.importItem.findMany({
    where: { importId, reason: null },
    select: { key: true, selected: true, edits: true, name: true, tokens: true },
  })
  return new Map(
    rows.map(({ key, selected, edits, name, tokens }) => {
      const changed = edits === null ? undefined : ImportEdits.parse(edits)
      return [key, { selected, edits: changed, name, tokens }] as const
    }),
  )
}

/** Returns the columns that keep what the builder changed, if anything. What models see of the tool counts as before. */
export const toChoiceColumns = (
  choice: KeptChoice | undefined,
  { operation, comparison }: { operation: ReadOperation; comparison: object | undefined },
) => {
  if (choice?.edits === undefined || !('tool' in operation)) return undefined
  const { edits, name, tokens } = choice
  return { edits, tokens, ...(comparison === undefined ? { name } : {}) }
}
