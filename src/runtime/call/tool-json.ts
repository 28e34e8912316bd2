import type { CompiledTool } from './compiled-tool.ts'

/** Renders a tool as clients see it (server/tools, "Tool"). `outputSchema` replaces the tool's own. */
export const renderToolJson = (tool: CompiledTool, outputSchema = tool.outputSchema): string =>
  JSON.stringify({
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: tool.inputSchema,
    outputSchema,
    annotations: tool.annotations,
    ...tool.more,
  })
