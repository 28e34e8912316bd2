import { isJsonObject, type JsonObject, type JsonValue } from '../../src/lib/kernel/json.ts'
import { bodyTool } from './reading.ts'

/** Returns the schema of the only parameter of a JSON body that is an array of such values. */
export const itemSchema = async (items: JsonValue, schemas: JsonObject = {}) => {
  const tool = await bodyTool({ type: 'array', items }, { components: { schemas } })
  return { schema: tool.tool.parameters.body?.schema?.items, notes: tool.notes }
}

/** Returns the schema of such a value. */
export const readSchema = async (schema: JsonValue, schemas?: JsonObject) => (await itemSchema(schema, schemas)).schema

/** Returns the same for a schema of an object. */
export const readObjectSchema = async (schema: JsonValue, schemas?: JsonObject): Promise<JsonObject> => {
  const found = await readSchema(schema, schemas)
  return isJsonObject(found) ? found : {}
}
