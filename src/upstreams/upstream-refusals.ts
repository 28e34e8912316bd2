import { AppError, type FieldError } from '../lib/kernel/errors.ts'
import type { Result } from '../lib/kernel/result.ts'
import { toolAnswersErrors } from './catalogue/tool-answers.ts'
import type { Upstream, UpstreamConfig } from './upstream.ts'

/** Returns the error for a missing upstream, also used for upstreams that the actor may not see. */
export const noUpstream = () => new AppError('not_found', 'There is no such MCP server.')

/** Builds the error for an invalid configuration. */
export const refuse = (errors: readonly FieldError[]): AppError => {
  const [first] = errors
  const summary =
    errors.length === 1 && first !== undefined
      ? `The MCP server is invalid: ${first.path} ${first.message}.`
      : 'The MCP server is invalid: see errors.'
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
