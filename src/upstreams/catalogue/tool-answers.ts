import { z } from 'zod'
import type { FieldError } from '../../lib/kernel/errors.ts'
import { cacheRules } from '../../tools/response/cache-rules.ts'
import { ResponseRules, responseErrors } from '../../tools/response/response-rules.ts'
import { MAX_NAMED_TOOLS } from '../limits.ts'
import type { ToolAnswers, Upstream } from '../upstream.ts'

/** Maximum size of one upstream's tool settings as UTF-8 JSON. They are read whenever a server is mounted. */
const MAX_TOOL_ANSWERS_BYTES = 256 * 1_024

/** Time limit for parsing all expressions of one upstream, which blocks the event loop. */
const MAX_READ_MS = 1_000

/** The settings of one tool as the API accepts them. Expressions and paths are parsed on save. */
export const ToolAnswersRules = z.strictObject({
  response: ResponseRules.optional(),
  cacheSeconds: cacheRules.cacheSeconds
    .optional()
    .describe(
      'how many seconds a result is reused for calls with the same arguments; only for tools with readOnlyHint or with readOnly set here',
    ),
  cacheShared: cacheRules.cacheShared.optional(),
  readOnly: z
    .boolean()
    .optional()
    .describe(
      'the builder declares the tool read-only: users who may only read can call it, and its results may be cached',
    ),
})

/** Looks up a name safely, even if a tool is named `constructor`. */
const ownEntry = <T>(byName: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(byName, name) ? byName[name] : undefined

/** Returns the builder's settings for a tool's results. */
export const findToolAnswers = (
  { toolAnswers, responseTokens }: Pick<Upstream, 'toolAnswers' | 'responseTokens'>,
  name: string,
): ToolAnswers & { responseTokens: number | undefined } => ({
  ...ownEntry(toolAnswers, name),
  responseTokens: ownEntry(responseTokens, name),
})

export const hasToolAnswers = (answers: ToolAnswers): boolean =>
  Object.values(answers).some(value => value !== undefined && value !== false)

/** Returns a copy with the tool's value replaced, or removed if undefined. */
export const withTool = <T>(
  byName: Readonly<Record<string, T>>,
  name: string,
  value: T | undefined,
): Readonly<Record<string, T>> => {
  const others = Object.entries(byName).filter(([known]) => known !== name)
  return Object.fromEntries(value === undefined ? others : [...others, [name, value]])
}

/** Returns the errors that prevent saving, except errors in individual fields. */
export const toolAnswersErrors = (byName: Upstream['toolAnswers']): FieldError[] => {
  if (Object.keys(byName).length > MAX_NAMED_TOOLS) {
    return [{ path: 'toolAnswers', message: `names more than ${MAX_NAMED_TOOLS} tools` }]
  }
  if (Buffer.byteLength(JSON.stringify(byName)) > MAX_TOOL_ANSWERS_BYTES) {
    return [{ path: 'toolAnswers', message: `is longer than ${MAX_TOOL_ANSWERS_BYTES} bytes as JSON` }]
  }
  const errors: FieldError[] = []
  const startedAt = performance.now()
  for (const [name, { response }] of Object.entries(byName)) {
    if (performance.now() - startedAt > MAX_READ_MS) {
      return [...errors, { path: `toolAnswers.${name}`, message: 'takes too long to parse together with the others' }]
    }
    errors.push(...responseErrors(response, `toolAnswers.${name}.response`))
  }
  return errors
}
