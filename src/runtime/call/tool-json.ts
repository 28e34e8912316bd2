import type { CompiledTool } from './compiled-server.ts'

/** A tool's JSON as clients are shown it (server/tools, "Tool"). `outputSchema`: instead of its own. */
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
