import type { JsonObject } from '../../lib/kernel/json.ts'
import type { CompiledTool } from '../../runtime/call/compiled-tool.ts'
import { renderToolJson } from '../../runtime/call/tool-json.ts'
import type { Era } from './listing.ts'
import { wrapOutputSchema } from './output-wrap.ts'

/**
 * Whether the output schema is wrapped in an object, because versions of the session era require structured content to
 * be an object.
 */
export const hasWrappedOutput = ({ outputSchema }: CompiledTool): boolean =>
  outputSchema !== undefined && outputSchema.type !== 'object'

const outputSchemaFor = (tool: CompiledTool, era: Era): JsonObject | undefined =>
  tool.outputSchema !== undefined && era === 'session' && hasWrappedOutput(tool)
    ? wrapOutputSchema(tool.outputSchema)
    : tool.outputSchema

/** Renders a tool as tools/list shows it. */
export const renderTool = (tool: CompiledTool, era: Era): string => renderToolJson(tool, outputSchemaFor(tool, era))
