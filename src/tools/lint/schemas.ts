import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import { CLAUDE, type Finding, GEMINI, type LintField, OPENAI, VS_CODE } from './finding.ts'
import { explainInvalidSchema, isNewestDialect } from './meta-schema.ts'
import { listSubschemas, type SchemaNode } from './walk-schema.ts'

/** A finding without location and field, which the caller adds. */
type Found = Pick<Finding, 'rule' | 'level' | 'message' | 'remedy' | 'clients'>

/** Parameter names that Claude's API accepts. Source: github.com/twilio-labs/mcp/issues/58 */
const PARAMETER_NAME = /^[a-zA-Z0-9_.-]{1,64}$/

/** Source: github.com/google-gemini/gemini-cli/issues/2237 */
const GEMINI_FORMATS: ReadonlySet<string> = new Set(['enum', 'date-time', 'int32', 'int64', 'float', 'double'])

/** Keywords that describe a value well enough without `type`. */
const INSTEAD_OF_TYPE = ['type', '$ref', 'anyOf', 'oneOf', 'allOf', 'enum', 'const'] as const

const quote = (texts: readonly string[]): string => texts.map(text => `"${text}"`).join(', ')

/** Source: github.com/mobile-next/mobile-mcp/issues/344 (Claude), github.com/langchain-ai/langchainjs/issues/9804 (OpenAI) */
const findRootCombination = (root: JsonObject): Found[] => {
  const forBoth = ['anyOf', 'oneOf', 'allOf'].filter(keyword => keyword in root)
  const forOne = ['enum', 'const', 'not'].filter(keyword => keyword in root)
  const found = [...forBoth, ...forOne]
  if (found.length === 0) return []
  const clients = forBoth.length > 0 ? [CLAUDE, OPENAI] : [OPENAI]
  return [
    {
      rule: 'root-combination',
      level: 'error',
      message: `${clients.join(' and ')} reject${clients.length === 1 ? 's' : ''} every request that includes a schema with ${quote(found)} at the top level.`,
      remedy: 'List all parameters under "properties", and describe which of them belong together.',
      clients,
    },
  ]
}

/**
 * Sources of the second finding: github.com/langchain-ai/langchain-mcp-adapters/issues/137,
 * github.com/inboxapi/cli/issues/106
 */
const findRootShape = ({ type, properties }: JsonObject): Found[] => {
  if (type !== 'object')
    return [
      {
        rule: 'root-type',
        level: 'error',
        message: 'Clients reject a schema whose "type" is not "object", because arguments are an object in MCP.',
        remedy: 'Write "type": "object", and put the parameters under "properties".',
        clients: [CLAUDE, OPENAI],
      },
    ]
  if (isJsonObject(properties)) return []
  return [
    {
      rule: 'no-properties',
      level: 'error',
      message: 'OpenAI rejects every request that includes a schema without "properties".',
      remedy: 'Write "properties": {} if there are no parameters.',
      clients: [OPENAI],
    },
  ]
}

/** Sources: github.com/mark3labs/mcphost/issues/35 (OpenAI), github.com/microsoft/vscode/issues/246119 (VS Code) */
const findOpenArray = ({ type, items }: JsonObject): Found[] => {
  const isArray = type === 'array' || (Array.isArray(type) && type.includes('array'))
  if (!isArray || items !== undefined) return []
  return [
    {
      rule: 'array-without-items',
      level: 'error',
      message: 'OpenAI and VS Code reject an array without "items".',
      remedy: 'Add "items", such as {"type": "string"}.',
      clients: [OPENAI, VS_CODE],
    },
  ]
}

/** Sources: github.com/WordPress/ai-provider-for-google/issues/33, github.com/taylorwilsdon/google_workspace_mcp/issues/1099 */
const findGeminiTypes = (schema: JsonObject): Found[] => [
  ...(Array.isArray(schema.type)
    ? [
        {
          rule: 'type-list',
          level: 'warning' as const,
          message: 'Gemini rejects a list of types if the client passes the schema on unchanged.',
          remedy: 'Choose one type. To make a parameter optional, leave it out of "required".',
          clients: [GEMINI],
        },
      ]
    : []),
  ...('const' in schema
    ? [
        {
          rule: 'const',
          level: 'warning' as const,
          message: 'Gemini does not support "const", and rejects it if the client passes the schema on unchanged.',
          remedy: 'Use "enum" with this one value.',
          clients: [GEMINI],
        },
      ]
    : []),
]

/** Sources: github.com/microsoft/azure-devops-mcp/issues/139, github.com/google-gemini/gemini-cli/issues/2237 */
const findGeminiValues = (schema: JsonObject): Found[] => {
  const { enum: choices, format } = schema
  return [
    ...(Array.isArray(choices) && choices.some(choice => typeof choice !== 'string')
      ? [
          {
            rule: 'enum-of-other-than-texts',
            level: 'warning' as const,
            message:
              'Gemini accepts only strings in "enum", and rejects others if the client passes the schema on unchanged.',
            remedy: 'Use strings, or list the choices in the description.',
            clients: [GEMINI],
          },
        ]
      : []),
    ...(typeof format === 'string' && !GEMINI_FORMATS.has(format)
      ? [
          {
            rule: 'format',
            level: 'hint' as const,
            message: `Gemini rejects the format "${format}" from older clients.`,
            remedy: 'Describe the format in the description, and remove "format" if you need to support such clients.',
            clients: [GEMINI],
          },
        ]
      : []),
  ]
}

/** Sources: github.com/google-gemini/gemini-cli/issues/13326, github.com/google-gemini/gemini-cli/issues/13142 */
const findReference = ({ $ref }: JsonObject): Found[] => {
  if (typeof $ref !== 'string') return []
  const isOwn = $ref.startsWith('#')
  return [
    {
      rule: isOwn ? 'reference' : 'reference-elsewhere',
      level: 'warning',
      message: isOwn
        ? 'Some versions of Gemini CLI leave out a tool with "$ref", and Gemini rejects it from clients that do not resolve it.'
        : 'It refers to another document, which no client fetches, so the model never sees that part.',
      remedy: 'Replace the reference with the schema it refers to.',
      clients: [GEMINI],
    },
  ]
}

/** Source: github.com/google-gemini/gemini-cli/pull/9574 */
const findUntyped = ({ schema, isProperty }: SchemaNode): Found[] => {
  if (!isProperty || INSTEAD_OF_TYPE.some(keyword => keyword in schema)) return []
  return [
    {
      rule: 'no-type',
      level: 'hint',
      message: 'It has no type, so models guess, and older versions of Gemini CLI leave the tool out.',
      remedy: 'Add a type, or describe the values with an example.',
      clients: [GEMINI],
    },
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
const findDialect = (schema: JsonObject, field: LintField): Found[] => {
  const problem = explainInvalidSchema(schema)
  if (problem !== undefined)
    return [
      {
        rule: 'invalid-schema',
        level: 'error',
        message: `It is not a valid JSON Schema 2020-12, so Claude rejects every request that includes it: ${problem}.`,
        remedy: 'Fix this part. Older drafts wrote some keywords differently.',
        clients: [CLAUDE],
      },
    ]
  if (isNewestDialect(schema)) return []
  return [
    {
      rule: 'old-dialect',
      level: field === 'outputSchema' ? 'error' : 'hint',
      message:
        field === 'outputSchema'
          ? 'Claude leaves out tools whose output schema uses a dialect other than JSON Schema 2020-12.'
          : 'Its "$schema" names a dialect other than JSON Schema 2020-12, which clients assume.',
      remedy: 'Remove "$schema": the default is 2020-12.',
      clients: [CLAUDE],
    },
  ]
}

const NODE_RULES = [findOpenArray, findGeminiTypes, findGeminiValues, findReference] as const

/** Keeps only the first of the findings that repeat within one parameter. */
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
    ...findRootShape(schema),
    ...findRootCombination(schema),
    ...(isWhole ? findDialect(schema, field) : [TOO_LARGE]),
  ]
  const ofNodes = nodes.flatMap(node =>
    [...NODE_RULES.flatMap(rule => (node.at === '' ? [] : rule(node.schema))), ...findUntyped(node)].map(
      (found): Finding => ({ ...found, field, parameter: node.parameter, at: node.at }),
    ),
  )
  return [
    ...ofRoot.map((found): Finding => ({ ...found, field, at: '' })),
    ...findParameterNames(schema),
    ...dropRepeated(ofNodes),
  ]
}

/** Clients only check that an output schema is a valid schema. */
export const lintOutputSchema = (schema: JsonObject): Finding[] => {
  const field = 'outputSchema'
  const found = listSubschemas(schema).isWhole ? findDialect(schema, field) : [TOO_LARGE]
  return found.map((one): Finding => ({ ...one, field, at: '' }))
}
