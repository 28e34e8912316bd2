import { AppError } from '../../kernel/errors.ts'

/** As a page shows it: blanks, however many, are one. */
const asShown = (text: string): string => text.trim().replace(/\s+/g, ' ')

/** What destroys asks for the name. Throws `invalid_request` for the field `sure` where something else was typed. */
export const assertTypedName = (typed: string, name: string): void => {
  if (asShown(typed) === asShown(name)) return
  throw new AppError('invalid_request', 'Type the name to confirm.', {
    errors: [{ path: 'sure', message: `is not ${asShown(name)}` }],
  })
}
