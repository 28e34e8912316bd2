import { z } from 'zod'
import { describePathFault, MAX_PATH_CHARACTERS, type PathStep, parsePath } from '../../lib/json/path.ts'
import type { FieldError } from '../../lib/kernel/errors.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'

/** How a response in pages says where the next page is, and the parameter that takes it. */
export const Pagination = z
  .strictObject({
    parameter: z.string().min(1, 'is empty').max(64).describe('the parameter that takes the cursor of the next page'),
    at: z
      .string()
      .min(1, 'is empty')
      .max(MAX_PATH_CHARACTERS)
      .describe('where the response has this cursor, such as meta.next_cursor'),
  })
  .describe(
    'how to get the next page of results; the result then says with which argument. Not needed for APIs that send a Link header with rel="next"',
  )
export type Pagination = z.infer<typeof Pagination>

type Step = Extract<PathStep, { kind: 'member' | 'item' }>

const isPlain = (step: PathStep): step is Step => step.kind === 'member' || step.kind === 'item'

/** Parses the path to a cursor, which leads to a single value. The error is a sentence. */
export const parseCursorPath = (at: string): Result<readonly Step[], string> => {
  const path = parsePath(at)
  if (!path.ok) return failure(describePathFault(at, path.error))
  const steps = path.value.filter(isPlain)
  if (steps.length === path.value.length && steps.length > 0) return success(steps)
  return failure('must lead to one value, without [] or *')
}

const parameterFault = (name: string, parameters: ReadonlyMap<string, boolean>): string | undefined => {
  const isBound = parameters.get(name)
  if (isBound === undefined) return 'is not a parameter of the template'
  return isBound
    ? 'must be a parameter from the model. This one is from a global, a secret or a fixed value'
    : undefined
}

/**
 * Returns the errors in how a tool's results are paged. `parameters` are those of the tool, with whether a value is bound
 * to them by default, which no model can replace.
 */
export const paginationErrors = (
  pagination: Pagination | undefined,
  parameters: ReadonlyMap<string, boolean>,
): FieldError[] => {
  if (pagination === undefined) return []
  const path = parseCursorPath(pagination.at)
  const fault = parameterFault(pagination.parameter, parameters)
  return [
    ...(fault === undefined ? [] : [{ path: 'pagination.parameter', message: fault }]),
    ...(path.ok ? [] : [{ path: 'pagination.at', message: path.error }]),
  ]
}
