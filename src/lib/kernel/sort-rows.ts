const COLLATOR = new Intl.Collator('en', { numeric: true })

/**
 * Returns the rows sorted by a key: numbers by size, texts alphabetically, regardless of case and with numbers in texts
 * by size. Rows with the same key keep their order, in both directions.
 */
export const sortRows = <Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => number | string,
  isDescending = false,
): Row[] => {
  const direction = isDescending ? -1 : 1
  return rows
    .map(row => ({ row, key: keyOf(row) }))
    .sort(({ key: a }, { key: b }) => {
      const difference = typeof a === 'number' && typeof b === 'number' ? a - b : COLLATOR.compare(`${a}`, `${b}`)
      return direction * difference
    })
    .map(({ row }) => row)
}
