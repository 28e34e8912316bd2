import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { parse as parseToml, TomlError } from 'smol-toml'
import { parseDocument } from 'yaml'
import { z } from 'zod'
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'

export type ConfigSyntax = 'json' | 'toml' | 'yaml'

/** Why a file is not a configuration, and where. Lines and columns count from 1. */
export type ConfigFault = { message: string; line?: number; column?: number }

/** The content of a file. `repeated` lists keys that occur twice in the same object. The last occurrence is used. */
export type ParsedConfig = { root: JsonObject; repeated: readonly string[] }

/** Maximum size of a file, in bytes. Some tools keep their whole history in it. */
export const MAX_CONFIG_FILE_BYTES = 32 * 1_024 * 1_024
/** Maximum nesting of arrays and objects. Tools need six levels. */
const MAX_DEPTH = 200

const placeOf = (text: string, offset: number): { line: number; column: number } => {
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  return { line: before.split('\n').length, column: offset - lineStart + 1 }
}

/** Converts jsonc-parser's error codes to words: `CommaExpected` becomes "comma expected". */
const inWords = ({ error }: ParseError): string =>
  printParseErrorCode(error)
    .replaceAll(/(?<=[a-z])[A-Z]/g, letter => ` ${letter.toLowerCase()}`)
    .toLowerCase()

/** Returns the maximum nesting depth outside strings and comments. Unlike the parser, works without recursion. */
const depthOf = (text: string): number => {
  const scanner = createScanner(text, true)
  let depth = 0
  let deepest = 0
  while (scanner.getPosition() < text.length) {
    scanner.scan()
    if (scanner.getTokenLength() !== 1) continue
    const mark = text[scanner.getTokenOffset()]
    if (mark === '{' || mark === '[') deepest = Math.max(deepest, ++depth)
    else if (mark === '}' || mark === ']') depth--
  }
  return deepest
}

const toValue = (node: Node | undefined, repeated: string[]): JsonValue => {
  if (node?.type === 'array') return (node.children ?? []).map(child => toValue(child, repeated))
  if (node?.type !== 'object')
    return z.union([z.string(), z.number(), z.boolean(), z.null()]).parse(node?.value ?? null)
  const members = new Map<string, JsonValue>()
  for (const { children = [] } of node.children ?? []) {
    const key = String(children[0]?.value)
    if (members.has(key)) repeated.push(key)
    members.set(key, toValue(children[1], repeated))
  }
  // Creates own properties for all names, including `__proto__`.
  return Object.fromEntries(members)
}

const parseJsonText = (text: string): Result<ParsedConfig, ConfigFault> => {
  if (depthOf(text) > MAX_DEPTH) return failure({ message: `it is nested more than ${MAX_DEPTH} levels deep` })
  const errors: ParseError[] = []
  const tree = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true })
  const [first] = errors
  if (first !== undefined) return failure({ message: inWords(first), ...placeOf(text, first.offset) })
  const repeated: string[] = []
  const root = tree === undefined ? {} : toValue(tree, repeated)
  return isJsonObject(root)
    ? success({ root, repeated })
    : failure({ message: 'it is not an object', line: 1, column: 1 })
}

const parseTomlText = (text: string): Result<ParsedConfig, ConfigFault> => {
  try {
    // Converting to JSON and back turns dates into strings.
    const root: unknown = JSON.parse(JSON.stringify(parseToml(text)))
    return isJsonObject(root) ? success({ root, repeated: [] }) : failure({ message: 'it is not a table' })
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const [message = 'it is not valid TOML'] = error.message.split('\n')
    return failure({ message: message.replace(/^Invalid TOML document: /, ''), line: error.line, column: error.column })
  }
}

/** Converts the parser's message to one that completes "cannot be read: …": without position and excerpt. */
const inShort = (message: string): string => {
  const [first = ''] = message.split('\n')
  return first.replace(/ at line \d+, column \d+:?$/, '').replace(/^[A-Z](?=[a-z])/, letter => letter.toLowerCase())
}

const parseYamlText = (text: string): Result<ParsedConfig, ConfigFault> => {
  try {
    const document = parseDocument(text)
    const [error] = document.errors
    if (error !== undefined) {
      const [start] = error.linePos ?? []
      return failure({ message: inShort(error.message), ...(start && { line: start.line, column: start.col }) })
    }
    const root: unknown = JSON.parse(JSON.stringify(document.toJS() ?? {}))
    return isJsonObject(root)
      ? success({ root, repeated: [] })
      : failure({ message: 'it is not a mapping', line: 1, column: 1 })
  } catch (error) {
    // The parser throws for aliases that expand to too much, and exhausts the stack for values nested too deeply.
    if (error instanceof ReferenceError) return failure({ message: inShort(error.message) })
    if (error instanceof RangeError) return failure({ message: 'it is nested too deeply' })
    throw error
  }
}

const PARSERS: Readonly<Record<ConfigSyntax, (text: string) => Result<ParsedConfig, ConfigFault>>> = {
  json: parseJsonText,
  toml: parseTomlText,
  yaml: parseYamlText,
}

/** Parses JSON with comments and trailing commas, TOML, or YAML. */
export const parseConfig = (text: string, syntax: ConfigSyntax): Result<ParsedConfig, ConfigFault> =>
  PARSERS[syntax](text.replace(/^\uFEFF/, ''))
