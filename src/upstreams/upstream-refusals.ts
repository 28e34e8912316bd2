import { isUniqueViolation } from '../lib/db/failures.ts'
import { AppError, type FieldError } from '../lib/kernel/errors.ts'
import type { Result } from '../lib/kernel/result.ts'
import { toolAnswersErrors } from './catalogue/tool-answers.ts'
import type { Upstream, UpstreamConfig } from './upstream.ts'

/** The one who changes it saw it as it was then; left out, whatever it became since is written over. */
export type Unchanged = { ifUnchangedSince?: Date | undefined }

/** Also of one that the actor may not see. */
export const noUpstream = () => new AppError('not_found', 'There is no such upstream.')

/** For a `catch`: the store's refusal of a second one of that name, in words. */
export const rethrowTaken = (name: string | undefined) => (error: unknown) => {
  if (!isUniqueViolation(error)) throw error
  throw new AppError('conflict', `This server has an upstream named "${name}" already.`, {
    errors: [{ path: 'name', message: 'is taken in this server' }],
  })
}

/** Throws `conflict` where somebody else has changed it meanwhile. */
export const assertUnchangedSince = ({ name, updatedAt }: Upstream, { ifUnchangedSince }: Unchanged): void => {
  if (ifUnchangedSince === undefined || updatedAt.getTime() === ifUnchangedSince.getTime()) return
  throw new AppError('conflict', `Somebody else has changed the upstream "${name}" since you opened this page.`, {
    errors: [{ path: 'version', message: 'is not the newest' }],
  })
}

/** What is wrong with a configuration, by field. */
export const refuse = (errors: readonly FieldError[]): AppError => {
  const [first] = errors
  const summary =
    errors.length === 1 && first !== undefined
      ? `The upstream cannot be: ${first.path} ${first.message}.`
      : 'The upstream cannot be: see errors.'
  return new AppError('invalid_request', summary, { errors })
}

/** Throws what is wrong with it. */
export const assertConfig = (checked: Result<UpstreamConfig, readonly FieldError[]>): UpstreamConfig => {
  if (checked.ok) return checked.value
  throw refuse(checked.error)
}

/** Throws what of it cannot be read. */
export const assertToolAnswers = (toolAnswers: Upstream['toolAnswers']): void => {
  const errors = toolAnswersErrors(toolAnswers)
  if (errors.length > 0) throw refuse(errors)
}
