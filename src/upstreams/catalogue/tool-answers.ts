import { z } from 'zod'
import type { FieldError } from '../../lib/kernel/errors.ts'
import { cacheRules } from '../../tools/response/cache-rules.ts'
import { ResponseRules, responseErrors, StoredResponse } from '../../tools/response/response-rules.ts'
import { MAX_NAMED_TOOLS } from '../limits.ts'
import type { ToolAnswers, Upstream } from '../upstream.ts'

/** Of one upstream, as UTF-8 JSON: it is read with every mount. */
const MAX_TOOL_ANSWERS_BYTES = 256 * 1_024

/** What the expressions of one upstream may take to be read together: nobody else has a turn meanwhile. */
const MAX_READ_MS = 1_000

/** As the API takes it, of one tool; what its expression and paths say is read when it is saved. */
export const ToolAnswersRules = z.strictObject({
  response: ResponseRules.optional(),
  cacheSeconds: cacheRules.cacheSeconds
    .optional()
    .describe(
      'how long an answer is kept for the next call with the same arguments; for tools that say readOnlyHint, and those that readOnly is set for',
    ),
  cacheShared: cacheRules.cacheShared.optional(),
  readOnly: z
    .boolean()
    .optional()
    .describe("the builder's word that it changes nothing: who may only read may call it, and its answers may be kept"),
})

const StoredToolAnswers = z.object({
  response: StoredResponse.optional(),
  cacheSeconds: z.int().optional(),
  cacheShared: z.boolean().optional(),
  readOnly: z.boolean().optional(),
})
export const StoredAnswersByTool = z.record(z.string(), StoredToolAnswers).nullable()

const NOTHING: ToolAnswers = {}

/** By the upstream's own name for it, which may be that of a member that every object has. */
const ownEntry = <T>(byName: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(byName, name) ? byName[name] : undefined

/** What a builder has said of the answers of a tool, and of the tokens of one that are sent. */
export const findToolAnswers = (
  { toolAnswers, responseTokens }: Pick<Upstream, 'toolAnswers' | 'responseTokens'>,
  name: string,
): ToolAnswers & { responseTokens: number | undefined } => ({
  ...(ownEntry(toolAnswers, name) ?? NOTHING),
  responseTokens: ownEntry(responseTokens, name),
})

/** Whether anything is said at all. */
export const hasToolAnswers = (answers: ToolAnswers): boolean =>
  Object.values(answers).some(value => value !== undefined && value !== false)

/** The tools by name with one of them anew; undefined takes it away. */
export const withTool = <T>(
  byName: Readonly<Record<string, T>>,
  name: string,
  value: T | undefined,
): Readonly<Record<string, T>> => {
  const others = Object.entries(byName).filter(([known]) => known !== name)
  return Object.fromEntries(value === undefined ? others : [...others, [name, value]])
}

/** What cannot be saved of it, beside its fields. */
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
      return [...errors, { path: `toolAnswers.${name}`, message: 'takes too long to read with the others' }]
    }
    errors.push(...responseErrors(response, `toolAnswers.${name}.response`))
  }
  return errors
}
