import { z } from 'zod'
import { MAX_PATH_CHARACTERS } from '../../lib/json/path.ts'
import type { PipelineSteps } from '../../lib/json/pipeline.ts'
import { formatNumber } from '../../lib/kernel/format.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { MAX_CONTEXT_LINES, MAX_DISTANCE, MAX_PATTERN_CHARS, MAX_TOP_K, SEARCH_MODES } from '../../lib/search/query.ts'
import { listNames, quoteName } from '../../runtime/call/group-texts.ts'

const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  array: 'a list of strings',
  object: 'an object',
  boolean: 'true or false',
  number: 'a whole number',
  int: 'a whole number',
}

const UNITS: Readonly<Record<string, string>> = { string: 'character', array: 'item' }

const bound = (origin: string, which: string, limit: number | bigint): string => {
  const count = `${which} ${formatNumber(Number(limit))}`
  const unit = UNITS[origin]
  return unit === undefined ? `must be ${count}` : `must have ${count} ${unit}${Number(limit) === 1 ? '' : 's'}`
}

const describe = (issue: z.core.$ZodIssue): string => {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is missing' : `must be ${KINDS[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`
    case 'too_small':
      return bound(issue.origin, 'at least', issue.minimum)
    case 'too_big':
      return bound(issue.origin, 'at most', issue.maximum)
    default:
      return `is invalid: ${issue.message}`
  }
}

/** Returns a sentence about each invalid argument, for the model that sent it. `issues` must include the input. */
const explainArguments = (issues: readonly z.core.$ZodIssue[], known: readonly string[]): string =>
  issues
    .map(issue => {
      if (issue.code !== 'unrecognized_keys') return `"${issue.path.join('.')}" ${describe(issue)}.`
      return `There is no parameter ${issue.keys.map(quoteName).join(', ')}. ${listNames('The parameters', known)}`
    })
    .join(' ')

/** Longer than the name of any tool or group. */
const MAX_NAME_CHARS = 400

/** Parameters shared by all three tools. They name a cached result, or a tool to call for a new one. */
const SOURCE = {
  cache_id: z.string().optional().describe('Id of a cut result. Give this, or tool'),
  tool: z.string().max(MAX_NAME_CHARS).optional().describe('A tool to call now, to read its whole result'),
  arguments: z.looseObject({}).optional().describe('Its arguments'),
}
/** On a server that groups its tools, a tool is identified by its group and name. */
const GROUP = { group: z.string().max(MAX_NAME_CHARS).optional().describe('The group of that tool') }

const PATH = z.string().max(MAX_PATH_CHARACTERS)
const PATHS = z.array(PATH).max(100)
/** Fewer, because each is looked up in every record that matches. */
const SHOWN_PATHS = z.array(PATH).max(20)

const FILTER = {
  fields: PATHS.optional().describe('Paths such as users[].name or data.*.id'),
  mode: z.enum(['include', 'exclude']).optional().describe('Keep only these (default), or all others'),
  limit: z.int().min(1).max(100_000).optional().describe('Items at most'),
  offset: z.int().optional().describe('Items to skip before; negative: from the end'),
}

const SEARCH = {
  pattern: z.string().max(MAX_PATTERN_CHARS).describe('Words to look for, or an expression with mode regex'),
  fields: PATHS.optional().describe('Search only these'),
  show: SHOWN_PATHS.optional().describe('Fields of the matching record to return; ["*"]: all'),
  mode: z
    .enum(SEARCH_MODES)
    .optional()
    .describe('text (default), regex (RE2), bm25 (best records), fuzzy (typing errors), context (sentences around)'),
  top_k: z.int().min(1).max(MAX_TOP_K).optional().describe('Matches at most'),
  context_lines: z.int().min(0).max(MAX_CONTEXT_LINES).optional().describe('Lines around each match'),
  multiline: z.boolean().optional().describe('With regex: match across lines'),
  case_insensitive: z.boolean().optional(),
  max_distance: z.int().min(0).max(MAX_DISTANCE).optional().describe('With fuzzy: characters that may differ'),
}

const EXPLORE = {
  path: PATH.optional().describe('Where to begin, such as data.users'),
  depth: z.int().min(1).max(10).optional().describe('Levels to go down'),
  samples: z.int().min(0).max(20).optional().describe('Values shown of each field'),
}

/** The result to read: a cached result, or the result of a new call. */
export type InspectionSource =
  | { kind: 'kept'; cacheId: string }
  | { kind: 'call'; group: string | undefined; tool: string; args: JsonObject }

export type CutResultToolName = 'proxy_filter' | 'proxy_search' | 'proxy_explore'

const OWN = { proxy_filter: FILTER, proxy_search: SEARCH, proxy_explore: EXPLORE } as const

const schemaFor = (name: CutResultToolName, hasGroups: boolean) =>
  z.strictObject({ ...SOURCE, ...(hasGroups ? GROUP : {}), ...OWN[name] })

const isFree = ({ properties, additionalProperties }: z.core.JSONSchema.JSONSchema): boolean =>
  Object.keys(properties ?? {}).length === 0 && additionalProperties !== false

/** Returns the input schema for clients: JSON Schema with all limits, but without nesting or references. */
export const inputSchemaFor = (name: CutResultToolName, hasGroups: boolean): JsonObject => {
  const { $schema: _schema, ...schema } = z.toJSONSchema(schemaFor(name, hasGroups), {
    io: 'input',
    override: ({ jsonSchema }) => {
      // Any whole number has these limits.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (!isFree(jsonSchema)) return
      delete jsonSchema.properties
      delete jsonSchema.additionalProperties
    },
  })
  const json: JsonValue = JSON.parse(JSON.stringify(schema))
  return isJsonObject(json) ? json : { type: 'object' }
}

/** Parameters that count as missing if they are empty strings. */
const NAMES: ReadonlySet<string> = new Set(['cache_id', 'tool', 'group'])

/** Parameters that are lists of paths. */
const LISTS = ['fields', 'show'] as const

/** Returns whether a model means that a parameter is missing: null, an empty list, or an empty name. */
const isMissing = (key: string, value: JsonValue): boolean =>
  value === null || (value === '' && NAMES.has(key)) || (Array.isArray(value) && value.length === 0)

/** Corrects common mistakes of models: values for a missing parameter, and a single field instead of a list. */
const asMeant = (given: JsonObject): JsonObject => {
  const meant = Object.fromEntries(Object.entries(given).filter(([key, value]) => !isMissing(key, value)))
  for (const name of LISTS) if (typeof meant[name] === 'string') meant[name] = [meant[name]]
  return meant
}

const Source = z.looseObject({ cache_id: SOURCE.cache_id, tool: SOURCE.tool, ...GROUP })

const readSource = (given: JsonObject): Result<InspectionSource, string> => {
  const { cache_id: cacheId, tool, group } = Source.parse(given)
  if (cacheId !== undefined && tool !== undefined) return failure('Give cache_id or tool, not both.')
  if (cacheId !== undefined) return success({ kind: 'kept', cacheId })
  if (tool === undefined) return failure('Give the cache_id of a cut result, or the tool and arguments of a new call.')
  return success({ kind: 'call', group, tool, args: isJsonObject(given.arguments) ? given.arguments : {} })
}

export type InspectionRequest = { source: InspectionSource; steps: PipelineSteps }

const Filter = z.object(FILTER)
const Search = z.object(SEARCH)
const Explore = z.object(EXPLORE)

const readSteps: Record<CutResultToolName, (given: JsonObject) => PipelineSteps> = {
  proxy_filter: given => ({ filter: Filter.parse(given) }),
  proxy_search: given => {
    const { top_k, context_lines, case_insensitive, max_distance, ...search } = Search.parse(given)
    const named = {
      topK: top_k,
      contextLines: context_lines,
      caseInsensitive: case_insensitive,
      maxDistance: max_distance,
    }
    return { search: { ...search, ...named } }
  },
  proxy_explore: given => ({ explore: Explore.parse(given) }),
}

/** Parses and checks the arguments. The error is meant for the model that sent them. */
export const readInspectionRequest = (
  name: CutResultToolName,
  hasGroups: boolean,
  given: JsonValue | undefined,
): Result<InspectionRequest, string> => {
  if (!isJsonObject(given)) return failure('The arguments must be an object.')
  const plain = asMeant(given)
  const schema = schemaFor(name, hasGroups)
  const checked = schema.safeParse(plain, { reportInput: true })
  if (!checked.success) return failure(explainArguments(checked.error.issues, Object.keys(schema.shape)))
  const source = readSource(plain)
  if (!source.ok) return source
  return success({ source: source.value, steps: readSteps[name](plain) })
}
