import { MAX_PRESELECTED } from '../../imports/limits.ts'
import { DUPLICATE_RULE, whyLeftOut } from '../../imports/preselection.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { formatCount } from '../../lib/kernel/format.ts'
import { isWanted, type SourceOptions } from './source-options.ts'

const MAX_LISTED = 20

type Options = Pick<SourceOptions, 'operation' | 'tag' | 'all'>

type Operation = {
  key: string
  operationId?: string | null | undefined
  tags: readonly string[]
  deprecated: boolean
  unsupportedSecurity: readonly string[]
}

/** An operation that is not imported, because it has not been chosen. */
export type LeftOut = { key: string; why: string }

/** The operations that are imported, and those that are only imported if the user chooses them. */
export type Choice<T> = { chosen: readonly T[]; leftOut: readonly LeftOut[] }

/** Returns whether the options choose all operations that match them, also deprecated ones. */
const areChosen = ({ operation, tag, all }: Options): boolean => all === true || (operation ?? tag) !== undefined

/** Chooses the operations that the options name, or else those that the review page selects at first. */
export const chooseOperations = <T extends Operation>(
  operations: readonly T[],
  options: Options,
  why: (operation: T) => string | undefined = whyLeftOut,
): Choice<T> => {
  const wanted = operations.filter(operation => isWanted(options, operation))
  if (areChosen(options)) return { chosen: wanted, leftOut: [] }
  return {
    chosen: wanted.filter(operation => why(operation) === undefined),
    leftOut: wanted.flatMap(operation => {
      const reason = why(operation)
      return reason === undefined ? [] : [{ key: operation.key, why: reason }]
    }),
  }
}

type Reviewed = Operation & { selected: boolean; state: string; findings: readonly { rule: string }[] }

/** Returns why the review does not select an operation at first. Undefined for tools that the source does not change, too. */
const whyNotSelected = (item: Reviewed): string | undefined => {
  if (item.selected || item.state === 'same') return undefined
  if (item.findings.some(({ rule }) => rule === DUPLICATE_RULE)) return 'has the same method and URL as another tool'
  return whyLeftOut(item) ?? 'is new'
}

/** Chooses among the operations of an import. Throws if that leaves none. */
export const chooseItems = <T extends Reviewed>(items: readonly T[], options: Options): Choice<T> => {
  const choice = chooseOperations(items, options, whyNotSelected)
  if (choice.chosen.length > 0) return choice
  if (items.length === 0)
    throw new AppError(
      'not_found',
      'No operation of the source can become a tool. Run the command with --plan to see why.',
    )
  if (areChosen(options))
    throw new AppError(
      'not_found',
      'No operation matches --operation or --tag. Run the command with --plan to list them.',
    )
  const all = formatCount(items.length, 'operation')
  const what = items.length > MAX_PRESELECTED ? `It has ${all}.` : `It has ${all}, none of which is selected at first.`
  const how = 'Choose some with --operation or --tag, or all of them with --all; --plan lists them.'
  throw new AppError('invalid_request', `${what} ${how}`)
}

/** Returns what is left out as text. */
export const leftOutLines = (leftOut: readonly LeftOut[]): string[] =>
  leftOut.length === 0
    ? []
    : [
        `${formatCount(leftOut.length, 'operation')} left out. Choose with --operation or --tag, or import all with --all:`,
        ...leftOut.slice(0, MAX_LISTED).map(({ key, why }) => `  ${key}  It ${why}.`),
        ...(leftOut.length > MAX_LISTED ? [`  and ${leftOut.length - MAX_LISTED} more`] : []),
      ]
