import type { Transaction } from '../lib/db/client.ts'
import { ImportEdits, type ReadOperation } from './import.ts'

/** The builder's selection and edits of an operation, kept while the source is read again. */
export type KeptChoice = {
  selected: boolean
  edits: ImportEdits | undefined
  /** The name that the tool had without edits, with which its tokens were counted. */
  name: string | null
  tokens: number | null
  /** The side that resolves all conflicts. Choices by piece are dropped, because the pieces may have changed. */
  resolve: 'mine' | 'theirs' | null
}

/** Lists what the builder chose for the operations of an import that could become tools, by key. */
export const listChoices = async (tx: Transaction, importId: string): Promise<ReadonlyMap<string, KeptChoice>> => {
  const rows = await tx.importItem.findMany({
    where: { importId, reason: null },
    select: { key: true, selected: true, edits: true, name: true, tokens: true, resolve: true },
  })
  return new Map(
    rows.map(({ key, edits, ...choice }) => {
      const changed = edits === null ? undefined : ImportEdits.parse(edits)
      return [key, { ...choice, edits: changed }] as const
    }),
  )
}

type ChoiceColumns = Partial<Pick<KeptChoice, 'resolve' | 'tokens'> & { edits: ImportEdits; name: string }>

/** Returns the columns that keep what the builder chose. What models see of the tool counts as before. */
export const toChoiceColumns = (
  choice: KeptChoice | undefined,
  { operation, comparison }: { operation: ReadOperation; comparison: object | undefined },
): ChoiceColumns => {
  if (choice === undefined || !('tool' in operation)) return {}
  const { edits, name, tokens, resolve } = choice
  if (edits === undefined) return { resolve }
  return { resolve, edits, tokens, ...(comparison === undefined && name !== null && { name }) }
}
