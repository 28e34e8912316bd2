import { AppError } from '../../kernel/errors.ts'

/** Collapses whitespace, as browsers do when they show the name. */
const asShown = (text: string): string => text.trim().replace(/\s+/g, ' ')

/** Throws `invalid_request` for the field `sure` unless the user typed the name to confirm a deletion. */
export const assertTypedName = (typed: string, name: string): void => {
  if (asShown(typed) === asShown(name)) return
  throw new AppError('invalid_request', 'Type the name to confirm.', {
    errors: [{ path: 'sure', message: `is not ${asShown(name)}` }],
  })
}
