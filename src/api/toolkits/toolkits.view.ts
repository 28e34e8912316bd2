import type { z } from 'zod'
import { toResponseView } from '../../tools/response/response-rules.ts'
import type { Tool, Toolkit } from '../../tools/tool.ts'
import { type CompiledDefinition, checkDefinition } from '../../tools/tool-definition.ts'
import type { ToolkitView, ToolView } from '../../tools/toolkits.schema.ts'

export const toToolkitView = (toolkit: Toolkit): z.infer<typeof ToolkitView> => ({
  id: toolkit.id,
  organizationId: toolkit.organizationId,
  title: toolkit.title,
  description: toolkit.description ?? null,
  visibility: toolkit.visibility,
  createdAt: toolkit.createdAt.toISOString(),
  updatedAt: toolkit.updatedAt.toISOString(),
})

const toParameterViews = ({ parameters }: CompiledDefinition): z.infer<typeof ToolView>['parameters'] =>
  Object.fromEntries(
    parameters.map(({ parameter, meta: { enum: allowed, ...meta } }) => [
      parameter.name,
      {
        type: parameter.type,
        required: parameter.required,
        places: parameter.places.map(({ kind, field, line, column }) => ({ kind, field, line, column })),
        ...meta,
        ...(allowed === undefined ? {} : { enum: [...allowed] }),
        ...(parameter.default === undefined ? {} : { default: parameter.default }),
      },
    ]),
  )

const definedOnly = (annotations: Tool['annotations']): Record<string, string | boolean> | null =>
  annotations === undefined
    ? null
    : Object.fromEntries(
        Object.entries(annotations).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
      )

/** Returns no parameters for a tool that an older version saved and this one cannot compile. */
const parametersOf = (tool: Tool): z.infer<typeof ToolView>['parameters'] => {
  const compiled = checkDefinition(tool)
  return compiled.ok ? toParameterViews(compiled.value) : {}
}

export const toToolView = (tool: Tool): z.infer<typeof ToolView> => ({
  id: tool.id,
  toolkitId: tool.toolkitId,
  name: tool.name,
  title: tool.title ?? null,
  description: tool.description ?? null,
  method: tool.method,
  url: tool.url,
  headers: tool.headers.map(({ name, value }) => ({ name, value })),
  body: tool.body ?? null,
  timeoutMs: tool.timeoutMs ?? null,
  parameters: parametersOf(tool),
  inputSchema: tool.inputSchema ?? null,
  outputSchema: tool.outputSchema ?? null,
  annotations: definedOnly(tool.annotations),
  allowedOrigins: tool.allowedOrigins === undefined ? null : [...tool.allowedOrigins],
  response: tool.response === undefined ? null : toResponseView(tool.response),
  cacheSeconds: tool.cacheSeconds ?? null,
  cacheShared: tool.cacheShared ?? null,
  createdAt: tool.createdAt.toISOString(),
  updatedAt: tool.updatedAt.toISOString(),
})
