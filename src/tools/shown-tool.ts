import { inputSchemaOf } from '../templates/input-schema.ts'
import type { ShownTool } from './lint/finding.ts'
import type { ToolDefinition } from './tool.ts'
import { checkDefinition } from './tool-definition.ts'

/** Returns a tool as models see it: without parameters that servers supply. */
export const toShownTool = (definition: ToolDefinition): ShownTool => {
  const { name, description, inputSchema, outputSchema } = definition
  const compiled = checkDefinition(definition)
  const shown = compiled.ok ? compiled.value.parameters.filter(({ meta }) => meta.binding === undefined) : []
  return { name, description, inputSchema: inputSchema ?? inputSchemaOf(shown), outputSchema }
}
