import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import { findViolation, isNewestDialect } from '../schemas/compile-schema.ts'
import { CLAUDE, type Finding, GEMINI, type LintField, OPENAI, VS_CODE } from './finding.ts'
import { listSubschemas, type SchemaNode } from './walk-schema.ts'

/** A finding to which the caller still adds the location and field. */
type Found = Pick<Finding, 'rule' | 'level' | 'message' | 'remedy' | 'clients'>

/** Parameter names that Claude's API accepts. Source: github.com/twilio-labs/mcp/issues/58 */
const PARAMETER_NAME = /^[a-zA-Z0-9_.-]{1,64}$/

/** Source: github.com/google-gemini/gemini-cli/issues/2237 */
const GEMINI_FORMATS: ReadonlySet<string> = new Set(['enum', 'date-time', 'int32', 'int64', 'float', 'double'])

/** Keywords that describe a value well enough without `type`. */
const INSTEAD_OF_TYPE = ['type', '$ref', 'anyOf', 'oneOf', 'allOf', 'enum', 'const'] as const

const quote = (texts: readonly string[]): string => texts.map(text => `"${text}"`).join(', ')

/** Returns the problem with a schema, or undefined if there is none. */
type Rule = (schema: JsonObject) => Found | undefined

/** Source: github.com/mobile-next/mobile-mcp/issues/344 (Claude), github.com/langchain-ai/langchainjs/issues/9804 (OpenAI) */
const findRootCombination: Rule = root => {
  const forBoth = ['anyOf', 'oneOf', 'allOf'].filter(keyword => keyword in root)
  const forOne = ['enum', 'const', 'not'].filter(keyword => keyword in root)
  const found = [...forBoth, ...forOne]
  if (found.length === 0) return undefined
  const clients = forBoth.length > 0 ? [CLAUDE, OPENAI] : [OPENAI]
  return {
    rule: 'root-combination',
    level: 'error',
    message: `${clients.join(' and ')} reject${clients.length === 1 ? 's' : ''} every request that includes a schema with ${quote(found)} at the top level.`,
    remedy: 'List all parameters under "properties", and describe which of them belong together.',
    clients,
  }
}

const WRONG_ROOT: Found = {
  rule: 'root-type',
  level: 'error',
  message: 'Clients reject a schema whose "type" is not "object", because arguments are an object in MCP.',
  remedy: 'Write "type": "object", and put the parameters under "properties".',
  clients: [CLAUDE, OPENAI],
}
/** Sources: github.com/langchain-ai/langchain-mcp-adapters/issues/137, github.com/inboxapi/cli/issues/106 */
const NO_PROPERTIES: Found = {
  rule: 'no-properties',
  level: 'error',
  message: 'OpenAI rejects every request that includes a schema without "properties".',
  remedy: 'Write "properties": {} if there are no parameters.',
  clients: [OPENAI],
}

const findRootShape: Rule = ({ type, properties }) => {
  if (type !== 'object') return WRONG_ROOT
  return isJsonObject(properties) ? undefined : NO_PROPERTIES
}

/** Rules for every schema below the root. */
const NODE_RULES: readonly (Found & { applies: (schema: JsonObject) => boolean })[] = [
  {
    // Sources: github.com/mark3labs/mcphost/issues/35 (OpenAI), github.com/microsoft/vscode/issues/246119 (VS Code)
    rule: 'array-without-items',
    applies: ({ type, items }) => [type].flat().includes('array') && items === undefined,
    level: 'error',
    message: 'OpenAI and VS Code reject an array without "items".',
    remedy: 'Add "items", such as {"type": "string"}.',
    clients: [OPENAI, VS_CODE],
  },
  {
    // Source: github.com/WordPress/ai-provider-for-google/issues/33
    rule: 'type-list',
    applies: ({ type }) => Array.isArray(type),
    level: 'warning',
    message: 'Gemini rejects a list of types if the client passes the schema on unchanged.',
    remedy: 'Choose one type. To make a parameter optional, leave it out of "required".',
    clients: [GEMINI],
  },
  {
    // Source: github.com/taylorwilsdon/google_workspace_mcp/issues/1099
    rule: 'const',
    applies: schema => 'const' in schema,
    level: 'warning',
    message: 'Gemini does not support "const", and rejects it if the client passes the schema on unchanged.',
    remedy: 'Use "enum" with this one value.',
    clients: [GEMINI],
  },
  {
    // Source: github.com/microsoft/azure-devops-mcp/issues/139
    rule: 'enum-of-other-than-texts',
    applies: ({ enum: choices }) => Array.isArray(choices) && choices.some(choice => typeof choice !== 'string'),
    level: 'warning',
    message: 'Gemini accepts only strings in "enum", and rejects others if the client passes the schema on unchanged.',
    remedy: 'Use strings, or list the choices in the description.',
    clients: [GEMINI],
  },
  {
    // Source: github.com/google-gemini/gemini-cli/issues/2237
    rule: 'format',
    applies: ({ format }) => typeof format === 'string' && !GEMINI_FORMATS.has(format),
    level: 'hint',
    message: 'Gemini rejects the format "{format}" from older clients.',
    remedy: 'Describe the format in the description, and remove "format" if you need to support such clients.',
    clients: [GEMINI],
  },
  {
    // Source: github.com/google-gemini/gemini-cli/issues/13326
    rule: 'reference',
    applies: ({ $ref }) => typeof $ref === 'string' && $ref.startsWith('#'),
    level: 'warning',
    message:
      'Some versions of Gemini CLI leave out a tool with "$ref", and Gemini rejects it from clients that do not resolve it.',
    remedy: 'Replace the reference with the schema it refers to.',
    clients: [GEMINI],
  },
  {
    // Source: github.com/google-gemini/gemini-cli/issues/13142
    rule: 'reference-elsewhere',
    applies: ({ $ref }) => typeof $ref === 'string' && !$ref.startsWith('#'),
    level: 'warning',
    message: 'It refers to another document, which no client fetches, so the model never sees that part.',
    remedy: 'Replace the reference with the schema it refers to.',
    clients: [GEMINI],
  },
]

/** Source: github.com/google-gemini/gemini-cli/pull/9574 */
const NO_TYPE: Found = {
  rule: 'no-type',
  level: 'hint',
  message: 'It has no type, so models guess, and older versions of Gemini CLI leave the tool out.',
  remedy: 'Add a type, or describe the values with an example.',
  clients: [GEMINI],
}

const findInNode = ({ schema, at, isProperty }: SchemaNode): Found[] => {
  const found = at === '' ? [] : NODE_RULES.filter(({ applies }) => applies(schema))
  const isUntyped = isProperty && !INSTEAD_OF_TYPE.some(keyword => keyword in schema)
  return [
    ...found.map(({ applies: _, message, ...rest }) => ({
      ...rest,
      message: message.replace('{format}', () => String(schema.format)),
    })),
    ...(isUntyped ? [NO_TYPE] : []),
  ]
}

const findParameterNames = ({ properties }: JsonObject): Finding[] =>
  Object.keys(isJsonObject(properties) ? properties : {}).flatMap(parameter =>
    PARAMETER_NAME.test(parameter)
      ? []
      : [
          {
            rule: 'parameter-name',
            level: 'error' as const,
            field: 'parameters' as const,
            parameter,
            message:
              'Claude rejects every request that includes a parameter whose name has more than 64 characters, or characters other than letters, digits, _, - and periods.',
            remedy: 'Rename the parameter.',
            clients: [CLAUDE],
          },
        ],
  )

/**
 * Sources: github.com/anthropics/claude-code/issues/586 (input), github.com/ankimcp/anki-mcp-server-addon/issues/75
 * (output)
 */
const findDialect = (schema: JsonObject, field: LintField): Found | undefined => {
  const problem = findViolation(schema)
  if (problem !== undefined)
    return {
      rule: 'invalid-schema',
      level: 'error',
      message: `It is not a valid JSON Schema 2020-12, so Claude rejects every request that includes it: ${problem}.`,
      remedy: 'Fix this part. Older drafts wrote some keywords differently.',
      clients: [CLAUDE],
    }
  if (isNewestDialect(schema)) return undefined
  return {
    rule: 'old-dialect',
    level: field === 'outputSchema' ? 'error' : 'hint',
    message:
      field === 'outputSchema'
        ? 'Claude leaves out tools whose output schema uses a dialect other than JSON Schema 2020-12.'
        : 'Its "$schema" names a dialect other than JSON Schema 2020-12, which clients assume.',
    remedy: 'Remove "$schema": the default is 2020-12.',
    clients: [CLAUDE],
  }
}

/** Keeps only the first finding of each rule for each parameter. */
const dropRepeated = (findings: readonly Finding[]): Finding[] => {
  const seen = new Map<string, Finding>()
  for (const finding of findings) {
    const key = `${finding.rule} ${finding.parameter ?? ''}`
    if (!seen.has(key)) seen.set(key, finding)
  }
  return [...seen.values()]
}

const TOO_LARGE: Found = {
  rule: 'vast-schema',
  level: 'warning',
  message: 'The schema is nested too deeply, or has too many parts, to be checked completely.',
  remedy: 'Make it flatter. Models fill in a few levels well.',
  clients: [],
}

export const lintInputSchema = (schema: JsonObject): Finding[] => {
  const field = 'inputSchema'
  const { nodes, isWhole } = listSubschemas(schema)
  const ofRoot = [
    findRootShape(schema),
    findRootCombination(schema),
    isWhole ? findDialect(schema, field) : TOO_LARGE,
  ].filter(found => found !== undefined)
  const ofNodes = nodes.flatMap(node =>
    findInNode(node).map((found): Finding => ({ ...found, field, parameter: node.parameter, at: node.at })),
  )
  return [
    ...ofRoot.map((found): Finding => ({ ...found, field, at: '' })),
    ...findParameterNames(schema),
    ...dropRepeated(ofNodes),
  ]
}

/** Clients check only that an output schema is valid. */
export const lintOutputSchema = (schema: JsonObject): Finding[] => {
  const field = 'outputSchema'
  const found = listSubschemas(schema).isWhole ? findDialect(schema, field) : TOO_LARGE
  return found === undefined ? [] : [{ ...found, field, at: '' }]
}
