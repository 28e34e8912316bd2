import { z } from 'zod'
import { AppError } from '../../kernel/errors.ts'

/**
 * A field that answers have and no change can set. A change may hold it, so that what was answered can be sent back,
 * edited; `assertUnchanged` sees that it is as it was.
 */
export const readOnlyField = z.unknown().optional().meta({ readOnly: true })

/** Times change by themselves: whatever is sent of them is not looked at. */
export const readOnlyTimes = { createdAt: readOnlyField, updatedAt: readOnlyField }

/** Throws `invalid_request`, naming the fields, where one that was sent is not as it is now. */
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
  throw new AppError('invalid_request', `What cannot be changed was sent changed: ${listed}.`, { errors })
}
