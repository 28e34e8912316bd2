import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { isStopWord, searchWordsOf } from './words.ts'

export type ToolText = {
  name: string
  title?: string | undefined
  description?: string | undefined
  inputSchema: JsonObject
}

/** The fields of a tool, most significant first. */
export const FIELDS = ['name', 'title', 'summary', 'rest', 'parameters', 'details'] as const
export type Field = (typeof FIELDS)[number]

/** Maximum number of characters read from a description, or from the texts of all parameters. */
const MAX_TEXT_CHARACTERS = 4_000
/** Maximum number of characters in a tool's combined text: about 500 tokens, which fit every embedding model. */
const MAX_WHOLE_CHARACTERS = 2_000
/** Maximum number of characters in the summary, which is a description's first sentence. */
const MAX_SUMMARY_CHARACTERS = 300
const MAX_PARAMETERS = 200
/** Maximum number of enum values read from a parameter. */
const MAX_VALUES = 30
/** Maximum nesting depth of parameters that are read. */
const MAX_DEPTH = 3

/**
 * Matches URLs and code in a text, but not link text. Each alternative stops where the next could begin, so that
 * matching takes linear time. This matters because the texts are untrusted and read on the event loop.
 */
const NOISE = /https?:\/\/\S+|\]\([^()]*\)|`[^`/{]*[/{][^`]*`/g

const plainText = (text: string): string => text.slice(0, MAX_TEXT_CHARACTERS).replaceAll(NOISE, ' ')

const wordsOf = (text: string): string[] => searchWordsOf(text).filter(word => !isStopWord(word))

/** Splits a description into its first sentence and the rest. */
const partSummary = (description: string): [summary: string, rest: string] => {
  const text = plainText(description).trim()
  const end = /[.!?](?=\s)|\n\s*\n/.exec(text)?.index ?? text.length
  const cut = Math.min(end, MAX_SUMMARY_CHARACTERS)
  return [text.slice(0, cut), text.slice(cut)]
}

type ParameterWords = { names: string[]; texts: string[] }

const collectParameters = (schema: JsonValue | undefined, into: ParameterWords, depth: number): void => {
  if (!isJsonObject(schema) || depth > MAX_DEPTH || into.names.length > MAX_PARAMETERS) return
  const { properties, items, enum: values, description } = schema
  if (depth > 0 && typeof description === 'string') into.texts.push(partSummary(description)[0])
  if (Array.isArray(values)) {
    into.texts.push(...values.slice(0, MAX_VALUES).filter(value => typeof value === 'string'))
  }
  if (isJsonObject(properties)) {
    for (const [name, property] of Object.entries(properties)) {
      if (into.names.length > MAX_PARAMETERS) return
      into.names.push(name)
      collectParameters(property, into, depth + 1)
    }
  }
  collectParameters(items, into, depth + 1)
}

const readParameters = (schema: JsonObject): ParameterWords => {
  const parameters: ParameterWords = { names: [], texts: [] }
  collectParameters(schema, parameters, 0)
  return parameters
}

/** Returns the words of each field. Only the name keeps its stop words. */
export const wordsOfTool = ({ name, title, description, inputSchema }: ToolText): Record<Field, string[]> => {
  const [summary, rest] = partSummary(description ?? '')
  const parameters = readParameters(inputSchema)
  return {
    name: searchWordsOf(name),
    title: wordsOf(title ?? ''),
    summary: wordsOf(summary),
    rest: wordsOf(rest),
    parameters: [...new Set(parameters.names.flatMap(wordsOf))],
    details: wordsOf(plainText(parameters.texts.join(' '))),
  }
}

/** Joins a tool's fields into one string, most significant first. The string is never empty. */
export const textOfTool = ({ name, title, description, inputSchema }: ToolText): string => {
  const { names, texts } = readParameters(inputSchema)
  const parameters = [...new Set(names.map(parameter => searchWordsOf(parameter).join(' ')))]
  const parts = [searchWordsOf(name).join(' ') || name, title ?? '', plainText(description ?? '').trim()]
  return [...parts, parameters.join(', '), plainText(texts.join(' '))]
    .filter(part => part !== '')
    .join('\n')
    .slice(0, MAX_WHOLE_CHARACTERS)
    .toWellFormed()
}
