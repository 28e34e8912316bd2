import type { z } from 'zod'
import { type FieldError, readWholeNumber } from '../kernel/index.ts'

/** A number as it is typed, or nothing; with what its schema says of one that cannot be. */
export const readTypedNumber = (
  schema: z.ZodType<number | undefined>,
  path: string,
  text: string,
): { number: number | undefined; errors: readonly FieldError[] } => {
  const read = schema.safeParse(readWholeNumber(text))
  if (read.success) return { number: read.data, errors: [] }
  return { number: undefined, errors: read.error.issues.slice(0, 1).map(({ message }) => ({ path, message })) }
}
