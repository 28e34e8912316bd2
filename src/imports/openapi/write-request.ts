import { isJsonObject } from '../../lib/kernel/json.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import { createSchemaReader } from '../schemas/to-schema.ts'
import { writeBody } from './body.ts'
import type { WrittenBody } from './body-context.ts'
import { UnusableOperation } from './imported-operation.ts'
import type { OperationNode } from './list-operations.ts'
import { toList } from './nodes.ts'
import { type OperationContext, type WrittenParameters, writeParameters } from './parameters.ts'
import type { PathExpression } from './path-expressions.ts'
import type { Placeholders } from './placeholders.ts'
import type { Credentials } from './security.ts'
import type { OperationServer } from './servers.ts'
import { encodeName } from './styles.ts'
import { writeUrl } from './write-url.ts'

/** The parts of a tool that make up its request, without the method. */
export type WrittenRequest = Pick<ToolDefinition, 'url' | 'headers' | 'body'>

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
  const placeholderOf = ({ name, keepsSlashes }: PathExpression): string => {
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

/** Writes the body in the media type that suits tools best. Null is a value in PATCH only, where it clears one. */
const writeRequestBody = (
  { source, operation }: OperationNode,
  { description, reader, placeholders, note }: OperationContext,
): WrittenBody | undefined => {
  const { value, missing } = description.follow(operation.requestBody)
  if (missing !== undefined) throw new UnusableOperation(`Its body is a reference that leads nowhere: ${missing}`)
  if (!isJsonObject(value)) return undefined
  const keepsNull = source.method === 'PATCH'
  const own = keepsNull ? createSchemaReader({ description, direction: 'request', keepsNull, note }) : reader
  const body = writeBody(value, { key: source.key, description: value.description, reader: own, placeholders, note })
  if (source.method === 'GET' && body !== undefined) {
    note('It is a GET request with a body, which some servers ignore.')
  }
  return body
}

/** Writes the request of an operation. Adds its parameters to the placeholders. */
export const writeRequest = (
  node: OperationNode,
  context: OperationContext & { server: OperationServer; credentials: Credentials },
): WrittenRequest => {
  const { source, item, operation } = node
  const nodes = [...toList(item.parameters), ...toList(operation.parameters)]
  const parameters = writeParameters(nodes, source.path, context)
  const secrets = writeCredentials(context.credentials, context.placeholders)
  const url = writePath(context.server, source.path, { ...parameters, secrets: secrets.query }, context)
  const body = writeRequestBody(node, context)
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
