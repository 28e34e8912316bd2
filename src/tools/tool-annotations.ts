import type { ToolAnnotations, ToolDefinition } from './tool.ts'

const READ_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD'])
const IDEMPOTENT_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'DELETE'])

/** Returns a tool's annotations. The defaults depend on the HTTP method (RFC 9110 §9.2). */
export const annotationsOf = ({
  method,
  title,
  annotations,
}: Pick<ToolDefinition, 'method' | 'title' | 'annotations'>): ToolAnnotations => ({
  ...(title === undefined ? {} : { title }),
  readOnlyHint: READ_METHODS.has(method),
  ...(READ_METHODS.has(method) ? {} : { destructiveHint: method === 'DELETE' }),
  idempotentHint: IDEMPOTENT_METHODS.has(method),
  openWorldHint: true,
  ...annotations,
})
