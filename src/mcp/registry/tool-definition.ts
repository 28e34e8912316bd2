import { type CompiledTool, renderToolJson } from '../execution/index.ts'
import type { JsonObject } from '../kernel/index.ts'
import type { Era } from './listing.ts'
import { wrapOutputSchema } from './output-wrap.ts'

/** The session era's versions want objects as structured content, so other schemas are wrapped in one. */
export const hasWrappedOutput = ({ outputSchema }: CompiledTool): boolean =>
  outputSchema !== undefined && outputSchema.type !== 'object'

const outputSchemaFor = (tool: CompiledTool, era: Era): JsonObject | undefined =>
  tool.outputSchema !== undefined && era === 'session' && hasWrappedOutput(tool)
    ? wrapOutputSchema(tool.outputSchema)
    : tool.outputSchema

/** A tool's JSON as tools/list shows it. */
export const renderTool = (tool: CompiledTool, era: Era): string => renderToolJson(tool, outputSchemaFor(tool, era))
