import { isUniqueViolation } from '../lib/db/failures.ts'
import { AppError, type FieldError } from '../lib/kernel/errors.ts'
import type { Result } from '../lib/kernel/result.ts'
import { toolAnswersErrors } from './catalogue/tool-answers.ts'
import type { Upstream, UpstreamConfig } from './upstream.ts'

/** When the editor last saw the object. If missing, newer changes are overwritten. */
export type Unchanged = { ifUnchangedSince?: Date | undefined }

/** Also used for upstreams that the actor may not see. */
export const noUpstream = () => new AppError('not_found', 'There is no such upstream.')

/** For a `catch`: turns a violated unique constraint into `conflict`. */
export const rethrowTaken = (name: string | undefined) => (error: unknown) => {
  if (!isUniqueViolation(error)) throw error
  throw new AppError('conflict', `This server already has an upstream named "${name}".`, {
    errors: [{ path: 'name', message: 'is already used in this server' }],
  })
}

/** Throws `conflict` if somebody else changed it meanwhile. */
export const assertUnchangedSince = ({ name, updatedAt }: Upstream, { ifUnchangedSince }: Unchanged): void => {
  if (ifUnchangedSince === undefined || updatedAt.getTime() === ifUnchangedSince.getTime()) return
  throw new AppError('conflict', `Somebody else changed the upstream "${name}" since you opened this page.`, {
    errors: [{ path: 'version', message: 'is out of date' }],
  })
}

/** Builds the error for an invalid configuration. */
export const refuse = (errors: readonly FieldError[]): AppError => {
  const [first] = errors
  const summary =
    errors.length === 1 && first !== undefined
      ? `The upstream is invalid: ${first.path} ${first.message}.`
      : 'The upstream is invalid: see errors.'
  return new AppError('invalid_request', summary, { errors })
}

export const assertConfig = (checked: Result<UpstreamConfig, readonly FieldError[]>): UpstreamConfig => {
  if (checked.ok) return checked.value
  throw refuse(checked.error)
}

export const assertToolAnswers = (toolAnswers: Upstream['toolAnswers']): void => {
  const errors = toolAnswersErrors(toolAnswers)
  if (errors.length > 0) throw refuse(errors)
}
