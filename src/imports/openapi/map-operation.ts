import { shorten } from '../../lib/kernel/format.ts'
import type { JsonObject } from '../../lib/kernel/json.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import { MAX_NOTE_CHARS, MAX_NOTES } from '../limits.ts'
import { createSchemaReader } from '../schemas/to-schema.ts'
import type { OperationNode } from './list-operations.ts'
import { toolNameOf } from './names.ts'
import { toText } from './nodes.ts'
import type { Description } from './open-description.ts'
import { describePagination, findPagination, type Pagination, paginationOfTool } from './pagination.ts'
import { createPlaceholders } from './placeholders.ts'
import type { ResponseReader } from './read-response.ts'
import type { Security } from './security.ts'
import type { Servers } from './servers.ts'
import { withoutSecrets } from './texts.ts'
import { describeOperation, titleOf } from './tool-text.ts'
import { writeRequest } from './write-request.ts'

const MORE_NOTES = 'More was left out or changed, which is not listed.'

export type MappingContext = {
  description: Description
  security: Security
  servers: Servers
  readResponse: ResponseReader
  /** Names of tools that are taken. Grows. */
  takenNames: Set<string>
}

/** A tool as it was written, before it is parsed and checked. */
export type WrittenTool = {
  tool: ToolDefinition
  notes: readonly string[]
  outputSchema: JsonObject | undefined
  pagination: Pagination | undefined
  globals: readonly string[]
  unsupportedSecurity: readonly string[]
}

/** Methods that the annotations of tools do not know from HTTP's registry (draft-ietf-httpbis-safe-method-w-body). */
const annotationsOf = (method: string): ToolDefinition['annotations'] =>
  method === 'QUERY' ? { readOnlyHint: true, idempotentHint: true } : undefined

/** Writes the tool for an operation. Throws `UnusableOperation` if there can be none. */
export const writeTool = (node: OperationNode, context: MappingContext): WrittenTool => {
  const { source, item, operation } = node
  const { description, security, servers, readResponse, takenNames } = context
  const notes = new Set<string>()
  const note = (text: string): void => {
    if (notes.size < MAX_NOTES) notes.add(withoutSecrets(shorten(text, MAX_NOTE_CHARS)))
    else notes.add(MORE_NOTES)
  }
  const server = servers.serverOf(item, operation)
  const credentials = security.credentialsOf(operation)
  const { unsupported } = credentials
  if (unsupported.length > 0) note(`It needs ${unsupported.join(' or ')}, which tools cannot send, so calls will fail.`)
  const secrets = credentials.schemes.map(({ secret }) => secret.key)
  const placeholders = createPlaceholders([server.key, ...secrets])
  const reader = createSchemaReader({ description, direction: 'request', keepsNull: false, note })
  const request = writeRequest(node, { description, security, reader, placeholders, note, server, credentials })

  const { response, schema, outputSchema, hasLinks } = readResponse(operation)
  const query = placeholders.apiNames.filter(([place]) => place === 'query')
  const pagination = source.method === 'GET' ? findPagination(query, schema, hasLinks) : undefined
  const paged = paginationOfTool(pagination)
  // Its example is a cursor of another result, or the number of a later page.
  if (pagination !== undefined && pagination.kind !== 'link') placeholders.dropExample(pagination.parameter)
  const baseUrl = { binding: { source: 'server', key: server.key, secret: false } } as const
  const annotations = annotationsOf(source.method)
  const title = titleOf(operation)
  const tool: ToolDefinition = {
    name: toolNameOf({ ...source, operationId: toText(operation.operationId) }, takenNames),
    ...(title !== undefined && { title }),
    description: describeOperation(source, operation, response, describePagination(pagination)),
    method: source.method,
    ...request,
    parameters: { [server.key]: baseUrl, ...placeholders.parameters },
    ...(annotations !== undefined && { annotations }),
    ...(paged !== undefined && { pagination: paged }),
    ...(server.origins !== undefined && { allowedOrigins: [...server.origins] }),
  }
  const globals = [server.key, ...secrets]
  return { tool, notes: [...notes], outputSchema, pagination, globals, unsupportedSecurity: unsupported }
}
