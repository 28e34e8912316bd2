import { isJsonObject, type JsonObject, type JsonValue } from '../lib/kernel/json.ts'
import { failure, type Result, success } from '../lib/kernel/result.ts'
import { listNames, quoteName } from '../runtime/call/group-texts.ts'
import { checkArguments, objectSchema, readText } from '../runtime/call/own-tool-arguments.ts'
import type { Question } from './tool-search.ts'

export const FIND_TOOLS = 'find_tools'
export const CALL_TOOL = 'call_tool'

const DEFAULT_FOUND = 5
const MAX_FOUND = 20
/** Maximum number of phrasings of a task. Each is a search of its own. */
const MAX_QUERIES = 5
/** Maximum length of the part of the description that lists groups, about 400 tokens. */
const MAX_GROUPS_CHARS = 1_500
/** Number of most used tools to name. */
export const MOST_USED = 5

export const FIND_SCHEMA = objectSchema(
  {
    queries: {
      type: 'array',
      items: { type: 'string' },
      minItems: 1,
      maxItems: MAX_QUERIES,
      description: 'The task, phrased in several ways',
    },
    group: { type: 'string', description: 'Find only tools of this group' },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: MAX_FOUND,
      description: `Maximum number of tools (default ${DEFAULT_FOUND})`,
    },
  },
  ['queries'],
)

/** What is known about the tools that a search can find. */
export type SearchOverview = {
  /** Number of tools that are not listed. */
  hiddenCount: number
  /** The toolkits and attached MCP servers with tools, largest first. */
  groups: readonly { name: string; size: number }[]
  /** The most used tools to name, most used first. */
  mostUsed: readonly string[]
}

const PHRASE_HINT = 'Describe the task in a few words.'

/** Renames the parameter `query`, which clients still send if they know an older list of tools. */
const withQueries = (given: JsonValue | undefined): JsonValue | undefined => {
  if (!isJsonObject(given) || given.query === undefined || given.queries !== undefined) return given
  const { query, ...rest } = given
  return { ...rest, queries: query }
}

/** Reads the phrasings. Also accepts a single text, which models send instead of a list. */
const readQueries = ({ queries }: JsonObject): Result<string[], string> => {
  if (queries === undefined) return failure(`"queries" is missing. ${PHRASE_HINT}`)
  const asked = Array.isArray(queries) ? queries : [queries]
  const texts = asked.filter(text => typeof text === 'string')
  if (texts.length < asked.length) return failure(`"queries" is not a list of strings. ${PHRASE_HINT}`)
  const phrasings = texts.filter(text => text.trim() !== '')
  if (phrasings.length === 0) return failure(`"queries" is empty. ${PHRASE_HINT}`)
  if (phrasings.length > MAX_QUERIES) return failure(`"queries" has more than ${MAX_QUERIES} phrasings.`)
  return success(phrasings)
}

const readGroup = (given: JsonObject, names: readonly string[]): Result<string | undefined, string> => {
  // Models send null or an empty string for arguments they omit.
  if (given.group === undefined || given.group === null || given.group === '') return success(undefined)
  const hint = listNames('The groups', names)
  const group = readText(given, 'group', hint)
  if (!group.ok || names.includes(group.value)) return group
  return failure(`There is no group ${quoteName(group.value)}. ${hint}`)
}

/** Reads the arguments of `find_tools`. `groups` are the names of the groups that the client may search. */
export const readQuestion = (given: JsonValue | undefined, groups: readonly string[]): Result<Question, string> => {
  const checked = checkArguments(withQueries(given), ['queries', 'group', 'limit'])
  if (!checked.ok) return checked
  const queries = readQueries(checked.value)
  if (!queries.ok) return queries
  const group = readGroup(checked.value, groups)
  if (!group.ok) return group
  const limit = checked.value.limit ?? DEFAULT_FOUND
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > MAX_FOUND) {
    return failure(`"limit" must be a whole number from 1 to ${MAX_FOUND}.`)
  }
  return success({ queries: queries.value, group: group.value, limit })
}

/** Lists groups with their sizes, up to a total length. */
const describeSizes = (groups: SearchOverview['groups']): string => {
  const shown: string[] = []
  let chars = 0
  for (const { name, size } of groups) {
    const text = `${JSON.stringify(name)} (${size})`
    chars += text.length
    if (chars > MAX_GROUPS_CHARS) break
    shown.push(text)
  }
  const more = groups.length - shown.length
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** Returns the description of `find_tools`. */
export const describeFind = ({ hiddenCount, groups, mostUsed }: SearchOverview): string =>
  [
    `Finds tools by what they do, to be called with ${CALL_TOOL}: this server has ${hiddenCount} that are not listed here. Give several phrasings in English, each as API documentation would put it, such as "list the invoices of a customer".`,
    ...(groups.length > 0 ? [`Groups and their tools: ${describeSizes(groups)}.`] : []),
    ...(mostUsed.length > 0 ? [`Most used: ${mostUsed.join(', ')}.`] : []),
  ].join('\n')
