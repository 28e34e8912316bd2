import { LRUCache } from 'lru-cache'
import type { JsonObject, JsonValue } from '../../lib/kernel/json.ts'
import { proposeOutputSchema } from '../schemas/output-schema.ts'
import { createSchemaReader } from '../schemas/to-schema.ts'
import { objectEntries, toObject } from './nodes.ts'
import type { Description } from './open-description.ts'

/** Schemas that are remembered, of up to a megabyte in memory. The operations of a resource follow each other. */
const MAX_KNOWN_SCHEMAS = 10

/** Returns the first response with a status of 2xx, or else the default one. */
const findResponse = (operation: JsonObject, { followObject }: Description): JsonObject => {
  const responses = Object.entries(toObject(operation.responses))
  const found = responses.find(([status]) => /^2/.test(status)) ?? responses.find(([status]) => status === 'default')
  return followObject(found?.[1])
}

const jsonSchemaOf = (response: JsonObject): JsonValue | undefined =>
  objectEntries(response.content).find(([type]) => /[/+]json/.test(type))?.[1].schema

/** Returns the reference that a schema consists of. */
const soleReferenceOf = (node: JsonValue | undefined): string | undefined => {
  const { $ref, ...others } = toObject(node)
  return typeof $ref === 'string' && Object.keys(others).length === 0 ? $ref : undefined
}

/** Creates a function that reads the response of an operation: the schema to propose, and how it comes in pages. */
export const createResponseReader = (description: Description) => {
  const known = new LRUCache<string, ReturnType<typeof readSchema>>({ max: MAX_KNOWN_SCHEMAS })

  const readSchema = (node: JsonValue | undefined) => {
    const options = { description, direction: 'response', keepsNull: false, note: () => undefined } as const
    const schema = createSchemaReader(options).read(node)
    return { schema, outputSchema: proposeOutputSchema(schema) }
  }
  const readOnce = (node: JsonValue | undefined): ReturnType<typeof readSchema> => {
    const ref = soleReferenceOf(node)
    if (ref === undefined) return readSchema(node)
    const read = known.get(ref) ?? readSchema(node)
    known.set(ref, read)
    return read
  }

  return (operation: JsonObject) => {
    const response = findResponse(operation, description)
    const hasLinks = Object.keys(toObject(response.headers)).some(name => name.toLowerCase() === 'link')
    return { response, hasLinks, ...readOnce(jsonSchemaOf(response)) }
  }
}
export type ResponseReader = ReturnType<typeof createResponseReader>
