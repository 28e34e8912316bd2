import type { JsonObject, JsonValue } from '../../lib/kernel/json.ts'
import { MAX_PARAMETERS } from '../../templates/limits.ts'
import type { ParameterType, Serialization } from '../../templates/template.ts'
import { MAX_EXAMPLES_CHARS, MAX_PARAMETER_TEXT_CHARS } from '../limits.ts'
import { chooseExample } from './choose-example.ts'
import { type NewTool, UnusableOperation } from './imported-operation.ts'
import { parameterNameOf } from './names.ts'
import { toList, toObject, toText } from './nodes.ts'
import { plainText } from './texts.ts'

type Parameters = NewTool['parameters']

/** A value of the request that the model fills in. */
export type OpenValue = {
  /** As the API names it. */
  name: string
  place: 'path' | 'query' | 'header' | 'cookie' | 'body'
  /** JSON Schema 2020-12, as models see it. */
  schema: JsonObject
  required: boolean
  description?: JsonValue | undefined
  /** `text` in a URL, header or form; `json` in JSON; `json-text` for JSON in a text. */
  position: 'text' | 'json' | 'json-text'
  serialization?: Serialization | undefined
  /** As the description has them, the best first. */
  examples?: Iterable<JsonValue> | undefined
}

const SCALARS: readonly ParameterType[] = ['string', 'integer', 'number', 'boolean']

/** Returns a schema as one of texts, which accepts all that can be sent as one. */
const toTextSchema = (schema: JsonObject): JsonObject => {
  const branches = schema.anyOf === undefined ? [schema] : toList(schema.anyOf).map(toObject)
  const values = branches.flatMap(one => toList(one.enum))
  const texts = values.map(value => (typeof value === 'string' ? value : JSON.stringify(value)))
  const isClosed = branches.every(one => one.enum !== undefined)
  return { type: 'string', ...(isClosed && texts.length > 0 && { enum: [...new Set(texts)] }) }
}

/** Returns the type of a placeholder, and the schema of its parameter. */
const typed = (
  schema: JsonObject,
  { position, serialization }: OpenValue,
): { type: ParameterType; schema: JsonObject } => {
  const scalar = schema.anyOf === undefined ? SCALARS.find(type => type === schema.type) : undefined
  if (serialization === 'segments') return { type: 'string', schema: toTextSchema(schema) }
  if (serialization !== undefined || position === 'json-text') return { type: 'json', schema }
  if (scalar !== undefined) return { type: scalar, schema }
  return position === 'json' ? { type: 'json', schema } : { type: 'string', schema: toTextSchema(schema) }
}

const writePlaceholder = (
  type: ParameterType,
  name: string,
  { required, serialization }: Pick<OpenValue, 'required' | 'serialization'>,
): string => {
  const prefix = type === 'string' ? '' : `${type}:`
  const suffix = serialization === undefined ? '' : ` | ${serialization}`
  return `{{${prefix}${name}${required ? '' : '?'}${suffix}}}`
}

/** Ends the mapping of an operation with too many parameters, before time is spent on all of them. */
export const assertParameterCount = (count: number): void => {
  if (count > MAX_PARAMETERS) throw new UnusableOperation(`It has more than ${MAX_PARAMETERS} parameters.`)
}

/** Collects the parameters of a tool while its request is written. `taken` are the names of its globals. */
export const createPlaceholders = (taken: Iterable<string>) => {
  const names = new Set(taken)
  const parameters: Parameters = {}
  let exampleChars = 0
  const apiNames: (readonly [place: OpenValue['place'], name: string, parameter: string])[] = []

  const exampleFor = (value: OpenValue, type: ParameterType, schema: JsonObject, alias: string) => {
    const { name, place, required, examples = [] } = value
    const preset = required && schema.default !== undefined ? [schema.default] : []
    const named = { place, name, alias }
    const example = chooseExample(examples, type, schema, named) ?? chooseExample(preset, type, schema, named)
    if (example === undefined) return undefined
    exampleChars += JSON.stringify(example).length
    return exampleChars <= MAX_EXAMPLES_CHARS ? example : undefined
  }

  return {
    parameters,
    /** The names in the API, with those of the parameters. */
    apiNames,
    /** Returns the placeholder of a value, and adds its parameter. */
    open: (value: OpenValue): string => {
      assertParameterCount(apiNames.length + 1)
      const name = parameterNameOf(value.name, value.place, names)
      const { description: own, ...read } = value.schema
      const { type, schema } = typed(read, value)
      const given = plainText(toText(value.description), MAX_PARAMETER_TEXT_CHARS)
      const description = given === '' ? toText(own) : given
      const isPlain =
        Object.keys(schema).every(key => key === 'type') && schema.type === (type === 'json' ? undefined : type)
      const example = exampleFor(value, type, schema, name)
      parameters[name] = {
        ...(description !== '' && { description }),
        ...(example !== undefined && { example }),
        ...(isPlain ? {} : { schema }),
      }
      apiNames.push([value.place, value.name, name])
      return writePlaceholder(type, name, value)
    },
    dropExample: (name: string): void => {
      const { example: _example, ...meta } = parameters[name] ?? {}
      parameters[name] = meta
    },
    /** Returns the placeholder of a secret, which is bound to the global of the same name. */
    bindSecret: (key: string): string => {
      parameters[key] = { binding: { source: 'server', key, secret: true } }
      return `{{${key}}}`
    },
  }
}

export type Placeholders = ReturnType<typeof createPlaceholders>
