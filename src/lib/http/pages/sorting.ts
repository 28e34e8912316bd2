import { addressOf } from '../list-query.ts'
import { formText } from './forms.ts'

/** The column by which a table is sorted, and the direction. */
export type Sort<Name extends string> = { column: Name; isDescending: boolean }

/** A column of a table. Without a `name`, the table cannot be sorted by it. */
export type Column<Name extends string> = {
  text: string
  name?: Name
  align?: 'end'
  /** Whether a click sorts the largest value first, as for counts and dates. */
  isLargestFirst?: true
}

const hasName = <Name extends string>(column: Column<Name>): column is Column<Name> & { name: Name } =>
  column.name !== undefined

/**
 * Returns the sorting of a table by links in its headers. `query` parses the parameter `sort`, such as `name` or
 * `-tokens` (descending), and never fails: the default is `first`, ascending.
 */
export const createSorting = <Name extends string>(columns: readonly Column<Name>[], first: Name) => {
  const named = columns.filter(hasName)
  const usual: Sort<Name> = { column: first, isDescending: false }

  const query = formText.transform((text): Sort<Name> => {
    const isDescending = text.startsWith('-')
    const found = named.find(({ name }) => name === (isDescending ? text.slice(1) : text))
    return found === undefined ? usual : { column: found.name, isDescending }
  })

  /** Writes a sort as `query` reads it. The default is empty, so that it does not appear in addresses. */
  const textOf = ({ column, isDescending }: Sort<Name>): string =>
    column === usual.column && !isDescending ? '' : `${isDescending ? '-' : ''}${column}`

  return {
    query,
    /** The default. */
    usual,
    textOf,
    /** Returns the headers. Clicking the sorted one reverses the order. `query` has the other query parameters. */
    headersOf: (sort: Sort<Name>, place: { path: string; query: Readonly<Record<string, string>> }) =>
      columns.map(({ text, align, name, isLargestFirst = false }) => {
        if (name === undefined) return { text, align, href: undefined, order: undefined }
        const isSorted = name === sort.column
        const next = { column: name, isDescending: isSorted ? !sort.isDescending : isLargestFirst }
        const order = sort.isDescending ? 'descending' : 'ascending'
        return {
          text,
          align,
          href: addressOf(place.path, { ...place.query, sort: textOf(next) }),
          order: isSorted ? order : undefined,
        }
      }),
  }
}
