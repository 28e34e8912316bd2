import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import { CLAUDE, type Finding, GEMINI, type LintField, OPENAI, VS_CODE } from './finding.ts'
import { explainInvalidSchema, isNewestDialect } from './meta-schema.ts'
import { listSubschemas, type SchemaNode } from './walk-schema.ts'

/** What is found in one subschema; place and field are the same for all of them. */
type Found = Pick<Finding, 'rule' | 'level' | 'message' | 'remedy' | 'clients'>

/** What Claude's API takes as the name of a parameter. Source: github.com/twilio-labs/mcp/issues/58 */
const PARAMETER_NAME = /^[a-zA-Z0-9_.-]{1,64}$/

/** Source: github.com/google-gemini/gemini-cli/issues/2237 */
const GEMINI_FORMATS: ReadonlySet<string> = new Set(['enum', 'date-time', 'int32', 'int64', 'float', 'double'])

/** Keywords that say what a value is, so that it needs no type. */
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
      message: `${clients.join(' and ')} refuse${clients.length === 1 ? 's' : ''} every request with a schema that has ${quote(found)} at its top.`,
      remedy: 'List all parameters under "properties", and say in the description which of them go together.',
      clients,
    },
  ]
}

/** Source of the second: github.com/langchain-ai/langchain-mcp-adapters/issues/137, github.com/inboxapi/cli/issues/106 */
const findRootShape = ({ type, properties }: JsonObject): Found[] => {
  if (type !== 'object')
    return [
      {
        rule: 'root-type',
        level: 'error',
        message: 'Arguments are an object in MCP: clients refuse a schema whose "type" is not "object".',
        remedy: 'Write "type": "object", and the parameters under "properties".',
        clients: [CLAUDE, OPENAI],
      },
    ]
  if (isJsonObject(properties)) return []
  return [
    {
      rule: 'no-properties',
      level: 'error',
      message: 'OpenAI refuses every request with a schema that has no "properties".',
      remedy: 'Write "properties": {} where there is no parameter.',
      clients: [OPENAI],
    },
  ]
}

/** Source: github.com/mark3labs/mcphost/issues/35 (OpenAI), github.com/microsoft/vscode/issues/246119 (VS Code) */
const findOpenArray = ({ type, items }: JsonObject): Found[] => {
  const isArray = type === 'array' || (Array.isArray(type) && type.includes('array'))
  if (!isArray || items !== undefined) return []
  return [
    {
      rule: 'array-without-items',
      level: 'error',
      message: 'OpenAI and VS Code refuse a list that does not say what its items are.',
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
          message: 'Gemini refuses a list of types where clients hand the schema on as it is.',
          remedy: 'Choose one type; a parameter that may be missing is left out of "required".',
          clients: [GEMINI],
        },
      ]
    : []),
  ...('const' in schema
    ? [
        {
          rule: 'const',
          level: 'warning' as const,
          message: 'Gemini knows no "const", and refuses it where clients hand the schema on as it is.',
          remedy: 'Write "enum" with this one value.',
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
              'Gemini takes only texts as choices, and refuses others where clients hand the schema on as it is.',
            remedy: 'Make it a text, or name the choices in the description.',
            clients: [GEMINI],
          },
        ]
      : []),
    ...(typeof format === 'string' && !GEMINI_FORMATS.has(format)
      ? [
          {
            rule: 'format',
            level: 'hint' as const,
            message: `Older clients of Gemini are refused for the format "${format}".`,
            remedy: 'Say the form in the description; leave the format out if such clients matter to you.',
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
        ? 'Some versions of Gemini CLI leave out a tool with "$ref", and Gemini refuses it from clients that do not resolve it.'
        : 'It refers to another document, which no client fetches: the model is told nothing of what stands there.',
      remedy: 'Write what it refers to in its place.',
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
      message: 'It has no type: models guess, and older versions of Gemini CLI leave the tool out.',
      remedy: 'Give it a type, or describe the values with an example.',
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
              'Claude refuses every request with a parameter whose name has more than 64 characters, or any but letters, digits, _, - and full stops.',
            remedy: 'Rename it.',
            clients: [CLAUDE],
          },
        ],
  )

/**
 * Sources: github.com/anthropics/claude-code/issues/586 (arguments),
 * github.com/ankimcp/anki-mcp-server-addon/issues/75 (answers)
 */
const findDialect = (schema: JsonObject, field: LintField): Found[] => {
  const problem = explainInvalidSchema(schema)
  if (problem !== undefined)
    return [
      {
        rule: 'invalid-schema',
        level: 'error',
        message: `It is no valid JSON Schema 2020-12, so that Claude refuses every request with it: ${problem}.`,
        remedy: 'Mend this place; older drafts wrote some keywords in another form.',
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
          ? 'Claude leaves out tools whose answers are described in another dialect than JSON Schema 2020-12.'
          : 'Its "$schema" names another dialect than JSON Schema 2020-12, by which clients read it.',
      remedy: 'Leave "$schema" out: then it is 2020-12.',
      clients: [CLAUDE],
    },
  ]
}

const NODE_RULES = [findOpenArray, findGeminiTypes, findGeminiValues, findReference] as const

/** What one parameter has at several places is told once, at the first of them. */
const tellOnce = (findings: readonly Finding[]): Finding[] => {
  const told = new Map<string, Finding>()
  for (const finding of findings) {
    const key = `${finding.rule} ${finding.parameter ?? ''}`
    if (!told.has(key)) told.set(key, finding)
  }
  return [...told.values()]
}

/** Not looked at further: whatever else is wrong with it, no model makes use of it. */
const TOO_LARGE: Found = {
  rule: 'vast-schema',
  level: 'warning',
  message: 'The schema is nested so deep, or has so many parts, that it was not looked at to its end.',
  remedy: 'Make it flatter: models fill in few levels well.',
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
    ...tellOnce(ofNodes),
  ]
}

/** Of what a tool answers clients only look whether it is a schema at all. */
export const lintOutputSchema = (schema: JsonObject): Finding[] => {
  const field = 'outputSchema'
  const found = listSubschemas(schema).isWhole ? findDialect(schema, field) : [TOO_LARGE]
  return found.map((one): Finding => ({ ...one, field, at: '' }))
}
