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

/** The form with the settings for a tool's results, as typed. A cleared checkbox is empty. */
export const UpstreamToolForm = {
  responseTokens: formText,
  ...RESPONSE_FIELDS,
  cacheSeconds: formText,
  cacheShared: formText,
  readOnly: formText,
  /** Arguments for a trial call, as JSON. */
  args: formText,
  /** A sample result for the preview; not saved. */
  sample: formText,
  version: formText,
}
export type TypedUpstreamTool = Record<keyof typeof UpstreamToolForm, string>

const textOf = (number: number | undefined): string => (number === undefined ? '' : String(number))

/** Returns the form with a tool's saved settings. */
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

/** Whether the form has the same settings as the saved ones. */
export const isAsKept = (typed: TypedUpstreamTool, upstream: Upstream, tool: string): boolean => {
  const kept = typedUpstreamTool(upstream, tool)
  const { args, sample, version } = kept
  return isDeepStrictEqual({ ...typed, args, sample, version }, kept)
}

const Tokens = z.object({ responseTokens: typedResponseTokens })
const Keeping = z.object({
  cacheSeconds: z.string().transform(readWholeNumber).pipe(ToolAnswersRules.shape.cacheSeconds),
})

/** Allows caching only for read-only tools. Another tool's cached result would report an action that did not happen. */
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

/** Reads a form and checks it. `declared` is the upstream's definition of the tool, if it has been fetched. */
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
    /** Errors in the shaping steps. If there are any, there is no preview. */
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
