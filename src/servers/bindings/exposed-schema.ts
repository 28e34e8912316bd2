import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import { inputSchemaOf } from '../../templates/input-schema.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import type { CompiledDefinition } from '../../tools/tool-definition.ts'
import type { Bindings } from '../server.ts'
import { bindingOf } from './bindings.ts'

/** Removes bound parameters from a custom input schema. */
const withoutBound = (schema: JsonObject, isExposed: (name: string) => boolean): JsonObject => {
  const { properties, required, ...rest } = schema
  const needed = Array.isArray(required) ? required.filter(name => typeof name !== 'string' || isExposed(name)) : []
  return {
    ...rest,
    ...(isJsonObject(properties)
      ? { properties: Object.fromEntries(Object.entries(properties).filter(([name]) => isExposed(name))) }
      : {}),
    ...(needed.length === 0 ? {} : { required: needed }),
  }
}

/** Returns the input schema of an instance, with its exposed parameters only. */
export const exposedSchemaOf = (
  tool: ToolDefinition,
  { parameters }: CompiledDefinition,
  bindings: Bindings,
): JsonObject => {
  const isExposed = (name: string) => bindingOf(bindings, name).source === 'exposed'
  if (tool.inputSchema !== undefined) return withoutBound(tool.inputSchema, isExposed)
  return inputSchemaOf(parameters.filter(({ parameter }) => isExposed(parameter.name)))
}
