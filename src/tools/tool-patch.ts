import type { Tool, ToolDefinition } from './tool.ts'
import { withoutLostParameters, withoutRepeatedDefaults } from './tool-definition.ts'

/** Changed fields of a tool: undefined keeps the value, null removes it. */
export type ToolPatch = { [Field in keyof ToolDefinition]?: ToolDefinition[Field] | null | undefined }

/** Applies a patch and drops the metadata of parameters that no longer exist. */
export const applyPatch = (tool: Tool, patch: ToolPatch): ToolDefinition => {
  const take = <Field extends keyof ToolDefinition>(field: Field) =>
    patch[field] === undefined ? tool[field] : (patch[field] ?? undefined)
  const edited: ToolDefinition = {
    name: patch.name ?? tool.name,
    title: take('title'),
    description: take('description'),
    method: patch.method ?? tool.method,
    url: patch.url ?? tool.url,
    headers: patch.headers ?? tool.headers,
    body: take('body'),
    timeoutMs: take('timeoutMs'),
    parameters: patch.parameters ?? tool.parameters,
    inputSchema: take('inputSchema'),
    outputSchema: take('outputSchema'),
    annotations: take('annotations'),
    allowedOrigins: take('allowedOrigins'),
    response: take('response'),
    cacheSeconds: take('cacheSeconds'),
    cacheShared: take('cacheShared'),
  }
  return patch.parameters ? withoutRepeatedDefaults(edited) : withoutLostParameters(edited)
}
