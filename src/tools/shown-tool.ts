import type { CheckedParameter } from '../templates/compile-parameters.ts'
import { inputSchemaOf } from '../templates/input-schema.ts'
import type { ShownTool } from './lint/finding.ts'
import type { ToolDefinition } from './tool.ts'
import { checkDefinition } from './tool-definition.ts'

const parametersOf = (definition: ToolDefinition): readonly CheckedParameter[] => {
  const compiled = checkDefinition(definition)
  return compiled.ok ? compiled.value.parameters : []
}

/** Returns a tool as models see it: without parameters that servers supply. `parameters` are those of the definition. */
export const toShownTool = (definition: ToolDefinition, parameters = parametersOf(definition)): ShownTool => {
  const { name, description, inputSchema, outputSchema } = definition
  const shown = parameters.filter(({ meta }) => meta.binding === undefined)
  return { name, description, inputSchema: inputSchema ?? inputSchemaOf(shown), outputSchema }
}
