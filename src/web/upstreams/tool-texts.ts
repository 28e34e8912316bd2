import { hash } from 'node:crypto'
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'

/**
 * What models read in a tool's definition, and what calls must contain. Parameters are named by their path, such as
 * `customer.email` or `lines[].sku`.
 */
export type ToolTexts = {
  /** Texts by their place: the path of a parameter, or words such as "the description". */
  texts: ReadonlyMap<string, readonly string[]>
  /** The parameters that the input schema describes. */
  parameters: ReadonlySet<string>
  /** The parameters that the input schema requires, each with the path of the object that contains it. */
  required: ReadonlyMap<string, string>
}

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/))

/** Keywords whose values are not schemas. */
const DATA_KEYWORDS = setOf('const default enum example examples')

/** Keywords whose members are schemas under names other than those of parameters. */
const NAMED_SCHEMAS = setOf('$defs definitions patternProperties dependentSchemas')

/** Keywords for the items of an array. */
const ITEM_KEYWORDS = setOf('items prefixItems additionalItems unevaluatedItems contains')

/** Names with a meaning in JSON Schema or MCP. A model could read any other name as an instruction. */
const KNOWN_NAMES = setOf(`
  $anchor $comment $dynamicAnchor $dynamicRef $id $ref $schema additionalProperties allOf anyOf contentEncoding
  contentMediaType contentSchema dependentRequired deprecated description else exclusiveMaximum exclusiveMinimum format if
  maxContains maxItems maxLength maxProperties maximum minContains minItems minLength minProperties minimum multipleOf not
  nullable oneOf pattern properties propertyNames readOnly required then title type unevaluatedProperties uniqueItems
  writeOnly destructiveHint idempotentHint openWorldHint readOnlyHint`)

const SCHEMA_KEYWORDS: ReadonlySet<string> = new Set([...DATA_KEYWORDS, ...NAMED_SCHEMAS, ...ITEM_KEYWORDS])

/** Values with a meaning in JSON Schema, by keyword. */
const PLAIN_VALUES: Readonly<Record<string, RegExp>> = {
  type: /^(?:array|boolean|integer|null|number|object|string)$/,
  $schema: /^https?:\/\/json-schema\.org\/(?:draft-0[467]|draft\/20(?:19-09|20-12))\/schema#?$/,
}

/** Returns the value or values of a keyword without those that have a meaning in JSON Schema. */
const withoutPlain = (keyword: string, value: JsonValue | undefined): readonly JsonValue[] => {
  const values = Array.isArray(value) ? value : [value ?? null]
  return values.filter(each => typeof each !== 'string' || PLAIN_VALUES[keyword]?.test(each) !== true)
}

const PLAIN_NAME = /^[\p{L}\p{N}_-]+$/u
const MAX_PATH_CHARS = 300

/** Shortens a path, so that those of thousands of parameters below a long name fit into memory. */
const boundPath = (path: string): string =>
  path.length <= MAX_PATH_CHARS ? path : `${path.slice(0, 200)}…${hash('sha256', path, 'base64url')}`

/** Adds a parameter to a path. Quotes a name that could be taken for a path. */
const join = (path: string, parameter: string): string => {
  const name = PLAIN_NAME.test(parameter) ? parameter : JSON.stringify(parameter)
  return boundPath(path === '' ? name : `${path}.${name}`)
}

type Walked = { texts: Map<string, string[]>; parameters: Set<string>; required: Map<string, string> }

const addText = ({ texts }: Walked, place: string, text: string): void => {
  const known = texts.get(place)
  if (known === undefined) texts.set(place, [text])
  else known.push(text)
}

/** Collects the texts of a value that is not a schema. */
const walkData = (value: JsonValue | undefined, place: string, walked: Walked): void => {
  if (typeof value === 'string') addText(walked, place, value)
  else if (Array.isArray(value)) for (const item of value) walkData(item, place, walked)
  else if (isJsonObject(value)) {
    for (const [name, inner] of Object.entries(value)) {
      if (!KNOWN_NAMES.has(name)) addText(walked, place, name)
      walkData(inner, place, walked)
    }
  }
}

/** Collects from a schema. `root` is the place of texts that belong to no parameter. */
const walkSchema = (schema: JsonValue | undefined, root: string, walked: Walked): void => {
  const walkProperties = (properties: JsonObject, path: string): void => {
    for (const [name, inner] of Object.entries(properties)) {
      const parameter = join(path, name)
      walked.parameters.add(parameter)
      addText(walked, parameter, name)
      walk(inner, parameter)
    }
  }

  const walkNamed = (keyword: string, schemas: JsonObject, path: string): void => {
    for (const [name, inner] of Object.entries(schemas)) {
      addText(walked, path || root, name)
      walk(inner, boundPath(`${path}${path && '.'}${keyword}/${join('', name)}`))
    }
  }

  const walkMember = (keyword: string, value: JsonValue | undefined, path: string): void => {
    const place = path || root
    if (!KNOWN_NAMES.has(keyword) && !SCHEMA_KEYWORDS.has(keyword)) addText(walked, place, keyword)
    if (keyword === 'properties' && isJsonObject(value)) walkProperties(value, path)
    else if (keyword === 'required' && Array.isArray(value)) {
      for (const name of value) if (typeof name === 'string') walked.required.set(join(path, name), path)
    } else if (NAMED_SCHEMAS.has(keyword) && isJsonObject(value)) walkNamed(keyword, value, path)
    else if (ITEM_KEYWORDS.has(keyword)) walk(value, boundPath(`${path}[]`))
    else if (DATA_KEYWORDS.has(keyword)) walkData(value, place, walked)
    else walk(withoutPlain(keyword, value), path)
  }

  const walk = (value: JsonValue | readonly JsonValue[] | undefined, path: string): void => {
    if (typeof value === 'string') addText(walked, path || root, value)
    else if (Array.isArray(value)) for (const item of value) walk(item, path)
    else if (isJsonObject(value)) for (const [keyword, inner] of Object.entries(value)) walkMember(keyword, inner, path)
  }
  walk(schema, '')
}

const PLACES: Readonly<Record<string, string>> = { title: 'the title', description: 'the description' }

/** Reads a tool's definition. */
export const readToolTexts = ({
  name: _name,
  inputSchema,
  outputSchema,
  annotations,
  ...rest
}: JsonObject): ToolTexts => {
  const walked: Walked = { texts: new Map(), parameters: new Set(), required: new Map() }
  for (const [name, value] of Object.entries(rest)) walkData(value, PLACES[name] ?? `"${name}"`, walked)
  const { title, ...hints } = isJsonObject(annotations) ? annotations : {}
  walkData(title, 'the title hint', walked)
  walkData(hints, 'the annotations', walked)
  walkSchema(inputSchema, 'the input schema', walked)
  walkSchema(outputSchema, 'the output schema', { ...walked, parameters: new Set(), required: new Map() })
  return walked
}
