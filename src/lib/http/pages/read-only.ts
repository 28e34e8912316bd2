import { z } from 'zod'
import { AppError } from '../../kernel/errors.ts'

/**
 * A field that updates cannot change. Updates may include the field, so that clients can edit a response and send it
 * back. `assertUnchanged` checks that its value is still the current one.
 */
export const readOnlyField = z.unknown().optional().meta({ readOnly: true })

/** Timestamps change without the client's involvement, so their values in requests are ignored. */
export const readOnlyTimes = { createdAt: readOnlyField, updatedAt: readOnlyField }

/** Throws `invalid_request` naming all fields whose submitted value differs from the current value. */
export const assertUnchanged = async <Name extends string>(
  names: readonly Name[],
  sent: Readonly<Partial<Record<Name, unknown>>>,
  readCurrent: () => Promise<Readonly<Record<Name, unknown>>>,
): Promise<void> => {
  const given = names.filter(name => sent[name] !== undefined)
  if (given.length === 0) return
  const current = await readCurrent()
  const errors = given
    .filter(name => sent[name] !== current[name])
    .map(name => ({ path: name, message: 'cannot be changed' }))
  if (errors.length === 0) return
  const listed = errors.map(({ path }) => path).join(', ')
  throw new AppError('invalid_request', `These fields are read-only: ${listed}.`, { errors })
}
