import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { formText } from '../../lib/http/pages/forms.ts'
import { parseInput } from '../../lib/http/validation.ts'
import type { FieldError } from '../../lib/kernel/errors.ts'
import { isJsonObject, type JsonObject, parseJson } from '../../lib/kernel/json.ts'
import { describeJsonFault, findJsonFault } from '../../lib/kernel/json-fault.ts'
import { MAX_JSON_DEPTH } from '../../lib/kernel/limits.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { readWholeNumber } from '../../lib/kernel/whole-number.ts'
import { typedResponseTokens } from '../../tools/response/response-tokens.ts'
import { findToolAnswers, ToolAnswersRules } from '../../upstreams/catalogue/tool-answers.ts'
import type { ToolAnswers, Upstream } from '../../upstreams/upstream.ts'
import { RESPONSE_FIELDS, readResponse, typedResponse } from '../tool-editor/response-rules-form.ts'
import { tryInput } from '../tool-editor/tool-editor-errors.ts'

/** Form with the settings for a tool's results, as typed. The value of a cleared checkbox is empty. */
export const UpstreamToolForm = {
  responseTokens: formText,
  ...RESPONSE_FIELDS,
  cacheSeconds: formText,
  cacheShared: formText,
  readOnly: formText,
  /** Arguments for a trial call, as JSON. */
  args: formText,
  /** A sample result for the preview. It is not saved. */
  sample: formText,
  version: formText,
}
export type TypedUpstreamTool = Record<keyof typeof UpstreamToolForm, string>

const textOf = (number: number | undefined): string => (number === undefined ? '' : String(number))

/** Returns a form filled in with the tool's saved settings. */
export const typedUpstreamTool = (upstream: Upstream, tool: string): TypedUpstreamTool => {
  const { responseTokens, response, cacheSeconds, cacheShared, readOnly } = findToolAnswers(upstream, tool)
  return {
    responseTokens: textOf(responseTokens),
    ...typedResponse(response),
    cacheSeconds: textOf(cacheSeconds),
    cacheShared: cacheShared === true ? 'yes' : '',
    readOnly: readOnly === true ? 'on' : '',
    args: '',
    sample: '',
    version: upstream.updatedAt.toISOString(),
  }
}

/** Returns whether the settings in the form equal the saved settings. */
export const isAsKept = (typed: TypedUpstreamTool, upstream: Upstream, tool: string): boolean => {
  const kept = typedUpstreamTool(upstream, tool)
  const { args, sample, version } = kept
  return isDeepStrictEqual({ ...typed, args, sample, version }, kept)
}

const Tokens = z.object({ responseTokens: typedResponseTokens })
const Keeping = z.object({
  cacheSeconds: z.string().transform(readWholeNumber).pipe(ToolAnswersRules.shape.cacheSeconds),
})

/**
 * Returns an error if results of a tool that is not read-only would be cached. A cached result would report an action
 * that did not happen.
 */
const keepingErrors = (answers: ToolAnswers, declared: JsonObject | undefined): FieldError[] => {
  const annotations = declared?.annotations
  const saysSo = typeof annotations === 'object' && annotations !== null && Reflect.get(annotations, 'readOnlyHint')
  if (answers.cacheSeconds === undefined || answers.readOnly === true || declared === undefined || saysSo === true) {
    return []
  }
  const message =
    'is only for read-only tools. This tool does not declare itself read-only; select "Read-only" if you are sure'
  return [{ path: 'cacheSeconds', message }]
}

/** Reads and checks a form. `declared` is the upstream's definition of the tool, if it has been fetched. */
export const readUpstreamTool = (form: TypedUpstreamTool, declared: JsonObject | undefined) => {
  const tokens = tryInput(() => parseInput(Tokens, form).responseTokens)
  const keeping = tryInput(() => parseInput(Keeping, form).cacheSeconds)
  const { response, errors: responseErrors } = readResponse(form)
  const answers: ToolAnswers = {
    response,
    cacheSeconds: keeping.value,
    cacheShared: form.cacheShared === 'yes' ? true : undefined,
    readOnly: form.readOnly === 'on' ? true : undefined,
  }
  const errors = [...tokens.errors, ...keeping.errors, ...keepingErrors(answers, declared), ...responseErrors]
  return {
    responseTokens: tokens.value,
    answers,
    errors,
    /** Errors in the shaping steps. If there are any, no preview is shown. */
    responseErrors,
    response,
  }
}
export type ReadUpstreamTool = ReturnType<typeof readUpstreamTool>

/** Parses the arguments of a trial call. An empty field means no arguments. */
export const readToolArguments = ({ args }: TypedUpstreamTool): Result<JsonObject, string> => {
  if (args.trim() === '') return success({})
  const fault = findJsonFault(args)
  if (fault !== undefined) return failure(describeJsonFault(fault))
  const parsed = parseJson(args, MAX_JSON_DEPTH)
  if (!parsed.ok) return failure(parsed.error.message)
  return isJsonObject(parsed.value) ? success(parsed.value) : failure('must be a JSON object: {…}')
}
