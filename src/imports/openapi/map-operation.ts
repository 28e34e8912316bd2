import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import { proposeOutputSchema } from '../schemas/output-schema.ts'
import { createSchemaReader } from '../schemas/to-schema.ts'
import { writeBody } from './body.ts'
import { type OperationSource, UnusableOperation } from './imported-operation.ts'
import { toolNameOf } from './names.ts'
import { objectEntries, toList, toObject, toText } from './nodes.ts'
import type { Description } from './open-description.ts'
import { describePagination, findPagination, type Pagination } from './pagination.ts'
import { type OperationContext, type WrittenParameters, writeParameters } from './parameters.ts'
import { createPlaceholders, type Placeholders } from './placeholders.ts'
import type { Credentials, Security } from './security.ts'
import type { OperationServer, Servers } from './servers.ts'
import { encodeName } from './styles.ts'
import { describeOperation, titleOf } from './tool-text.ts'
import { writeUrl } from './write-url.ts'

export type MappingContext = {
  description: Description
  security: Security
  servers: Servers
  /** Names of tools that are taken. Grows. */
  takenNames: Set<string>
}

/** An operation and where it is. */
export type OperationNode = { source: OperationSource; item: JsonObject; operation: JsonObject }

/** A tool as it was written, before it is parsed and checked. */
export type WrittenTool = {
  tool: ToolDefinition
  notes: readonly string[]
  outputSchema: JsonObject | undefined
  pagination: Pagination | undefined
  globals: readonly string[]
  unsupportedSecurity: readonly string[]
}

/** Returns the first response with a status of 2xx, or else the default one. */
const findResponse = (operation: JsonObject, { followObject }: Description): JsonObject => {
  const responses = Object.entries(toObject(operation.responses))
  const found = responses.find(([status]) => /^2/.test(status)) ?? responses.find(([status]) => status === 'default')
  return followObject(found?.[1])
}

const jsonSchemaOf = (response: JsonObject): JsonValue | undefined =>
  objectEntries(response.content).find(([type]) => /[/+]json/.test(type))?.[1].schema

type Written = Pick<ToolDefinition, 'url' | 'headers' | 'body'>

const writeCredentials = ({ schemes }: Credentials, placeholders: Placeholders) => {
  const written = schemes.map(({ secret, carrier: { place, name, prefix } }) => ({
    place,
    name,
    value: prefix + placeholders.bindSecret(secret.key),
  }))
  const pairs = (place: string) =>
    written.filter(one => one.place === place).map(({ name, value }) => `${encodeName(name)}=${value}`)
  return {
    headers: written.filter(({ place }) => place === 'header').map(({ name, value }) => ({ name, value })),
    query: pairs('query'),
    cookies: pairs('cookie'),
  }
}

const writePath = (
  { key }: OperationServer,
  path: string,
  parameters: WrittenParameters & { secrets: readonly string[] },
  { placeholders }: OperationContext,
): string => {
  // The same expression can occur twice.
  const written = new Map(parameters.path)
  const placeholderOf = (name: string, keepsSlashes: boolean): string => {
    const known = written.get(name)
    if (known !== undefined) return known
    const serialization = keepsSlashes ? ('segments' as const) : undefined
    const value = { name: name || 'value', place: 'path', schema: { type: 'string' }, required: true } as const
    const text = placeholders.open({ ...value, position: 'text', serialization })
    written.set(name, text)
    return text
  }
  return writeUrl(key, path, { placeholderOf, query: [...parameters.query, ...parameters.secrets] })
}

const writeRequest = (
  { source, item, operation }: OperationNode,
  context: OperationContext & { server: OperationServer; credentials: Credentials },
): Written => {
  const { description, server, credentials, reader, placeholders, note } = context
  const parameters = writeParameters([...toList(item.parameters), ...toList(operation.parameters)], context)
  const secrets = writeCredentials(credentials, placeholders)
  const url = writePath(server, source.path, { ...parameters, secrets: secrets.query }, context)
  const { value: requestBody, missing } = description.follow(operation.requestBody)
  if (missing !== undefined) throw new UnusableOperation(`Its body is a reference that leads nowhere: ${missing}`)
  const keepsNull = source.method === 'PATCH'
  const bodyReader = keepsNull ? createSchemaReader({ description, direction: 'request', keepsNull, note }) : reader
  const body = isJsonObject(requestBody)
    ? writeBody(requestBody, {
        key: source.key,
        description: requestBody.description,
        reader: bodyReader,
        placeholders,
        note,
      })
    : undefined
  const cookies = [...parameters.cookies, ...secrets.cookies]
  return {
    url,
    headers: [
      ...parameters.headers,
      ...secrets.headers,
      ...(cookies.length > 0 ? [{ name: 'Cookie', value: cookies.join('; ') }] : []),
      ...(body?.contentType === undefined ? [] : [{ name: 'Content-Type', value: body.contentType }]),
    ],
    ...(body !== undefined && { body: body.body }),
  }
}

/** Methods that the annotations of tools do not know from HTTP's registry (draft-ietf-httpbis-safe-method-w-body). */
const annotationsOf = (method: string): ToolDefinition['annotations'] =>
  method === 'QUERY' ? { readOnlyHint: true, idempotentHint: true } : undefined

const noteMethod = ({ method }: OperationSource, { body }: Written, note: (text: string) => void): void => {
  if (method === 'GET' && body !== undefined) note('It is a GET request with a body, which some servers ignore.')
}

/** Writes the tool for an operation. Throws `UnusableOperation` if there can be none. */
export const writeTool = (node: OperationNode, context: MappingContext): WrittenTool => {
  const { source, item, operation } = node
  const { description, security, servers, takenNames } = context
  const notes = new Set<string>()
  const note = (text: string): void => void notes.add(text)
  const server = servers.serverOf(item, operation)
  const credentials = security.credentialsOf(operation)
  const secrets = credentials.schemes.map(({ secret }) => secret.key)
  const placeholders = createPlaceholders([server.key, ...secrets])
  const reader = createSchemaReader({ description, direction: 'request', keepsNull: false, note })
  const request = writeRequest(node, { description, security, reader, placeholders, note, server, credentials })
  noteMethod(source, request, note)

  const response = findResponse(operation, description)
  const responses = createSchemaReader({ description, direction: 'response', keepsNull: false, note: () => undefined })
  const result = responses.read(jsonSchemaOf(response))
  const hasLinks = Object.keys(toObject(response.headers)).some(name => name.toLowerCase() === 'link')
  const query = placeholders.apiNames
    .filter(([place]) => place === 'query')
    .map(([, name, own]) => [name, own] as const)
  const pagination = source.method === 'GET' ? findPagination(query, result, hasLinks) : undefined
  const title = titleOf(operation)
  const annotations = annotationsOf(source.method)
  const { unsupported } = credentials
  if (unsupported.length > 0) note(`It needs ${unsupported.join(' or ')}, which tools cannot send, so calls will fail.`)
  return {
    tool: {
      name: toolNameOf({ ...source, operationId: toText(operation.operationId) }, takenNames),
      ...(title !== undefined && { title }),
      description: describeOperation(operation, {
        response,
        more: describePagination(pagination),
        fallback: `Sends ${source.method} ${source.path}`.slice(0, 200),
      }),
      method: source.method,
      ...request,
      parameters: {
        [server.key]: { binding: { source: 'server', key: server.key, secret: false } },
        ...placeholders.parameters,
      },
      ...(annotations !== undefined && { annotations }),
      ...(server.origins !== undefined && { allowedOrigins: [...server.origins] }),
    },
    notes: [...notes],
    outputSchema: proposeOutputSchema(result),
    pagination,
    globals: [server.key, ...secrets],
    unsupportedSecurity: unsupported,
  }
}
