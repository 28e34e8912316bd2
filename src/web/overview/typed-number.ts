import type { z } from 'zod'
import type { FieldError } from '../../lib/kernel/errors.ts'
import { readWholeNumber } from '../../lib/kernel/whole-number.ts'

/** Parses a number from a text field; an empty field is undefined. Returns the schema's errors for invalid input. */
export const readTypedNumber = (
  schema: z.ZodType<number | undefined>,
  path: string,
  text: string,
): { number: number | undefined; errors: readonly FieldError[] } => {
  const read = schema.safeParse(readWholeNumber(text))
  if (read.success) return { number: read.data, errors: [] }
  return { number: undefined, errors: read.error.issues.slice(0, 1).map(({ message }) => ({ path, message })) }
}
