import SwaggerClient from 'swagger-client'
import type { MappedOperation } from '../../src/imports/openapi/imported-operation.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/lib/kernel/json.ts'
import { compileTemplate } from '../../src/templates/compile.ts'
import type { Place } from '../../src/templates/template.ts'

/** The origin of both requests. */
export const ORIGIN = 'https://api.example.com'

const memberOf = (value: JsonValue | undefined, key: string): JsonValue | undefined =>
  isJsonObject(value) || Array.isArray(value) ? Reflect.get(value, key) : undefined

/**
 * Replaces references by what they refer to, in front of swagger-client: its own way of doing so takes gigabytes for
 * some descriptions. Within schemas, which do not change how values are sent, it goes only a few levels deep.
 */
export const createDereferencer = (root: JsonObject) => {
  const find = (ref: string): JsonValue | undefined =>
    ref
      .slice(2)
      .split('/')
      .map(token => decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<JsonValue | undefined>(memberOf, root)
  const dereference = (value: JsonValue, depth: number): JsonValue => {
    if (depth > 8) return {}
    if (Array.isArray(value)) return value.map(item => dereference(item, depth + 1))
    if (!isJsonObject(value)) return value
    if (typeof value.$ref === 'string') return dereference(find(value.$ref) ?? {}, depth)
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, dereference(one, depth + 1)]))
  }
  return (value: JsonValue | undefined): JsonObject => {
    const dereferenced = dereference(value ?? {}, 0)
    return isJsonObject(dereferenced) ? dereferenced : {}
  }
}

type Arguments = Readonly<Record<string, JsonValue>>

/** Returns the arguments by their places, under the names that the API has for them. */
const argumentsByPlace = ({ tool, path }: MappedOperation, args: Arguments) => {
  const compiled = compileTemplate(tool)
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.error))
  const expressions = [
    ...path
      .replaceAll(/%7B/gi, '{')
      .replaceAll(/%7D/gi, '}')
      .matchAll(/\{([^{}]*)\}/g),
  ].map(([, name = '']) => name)
  const places = compiled.value.parameters.flatMap(({ name, places: own }) =>
    own.map(place => ({ parameter: name, place, value: args[name] })),
  )
  const inPath = places
    .filter(({ place }) => place.kind === 'path')
    .sort((one, other) => one.place.column - other.place.column)
  const named = (kinds: readonly Place['kind'][]) =>
    places
      .filter(({ place }) => kinds.includes(place.kind))
      .map(({ parameter, place, value }) => [place.name || parameter, value] as const)
  return {
    path: inPath.map(({ value }, index) => [expressions[index] ?? '', value] as const),
    query: named(['query']),
    header: named(['header']),
    body: named(['json', 'form', 'multipart']),
    whole: places.find(
      ({ place }) =>
        place.field === 'body' && place.name === undefined && ['json', 'text', 'xml-document'].includes(place.kind),
    ),
  }
}

const given = (pairs: readonly (readonly [string, JsonValue | undefined])[], prefix = ''): Record<string, JsonValue> =>
  Object.fromEntries(pairs.flatMap(([name, value]) => (value === undefined ? [] : [[`${prefix}${name}`, value]])))

/** Returns the request that swagger-client sends for the same arguments. `spec` is dereferenced as far as needed. */
export const theirRequest = (operation: MappedOperation, args: Arguments, spec: JsonObject) => {
  const { path, query, header, body, whole } = argumentsByPlace(operation, args)
  const isSwagger = spec.swagger !== undefined
  const value = whole === undefined ? given(body) : whole.value
  const node = memberOf(memberOf(spec.paths, operation.path), operation.method.toLowerCase())
  const declared = [memberOf(node, 'parameters'), memberOf(memberOf(spec.paths, operation.path), 'parameters')].flat()
  const inBody = declared.find(parameter => memberOf(parameter, 'in') === 'body')
  const bodyName = memberOf(inBody, 'name')
  const { headers, body: template } = operation.tool
  const contentType = headers.find(({ name }) => name === 'Content-Type')?.value.split(';', 1)[0]
  const ofSwagger = typeof bodyName === 'string' ? { [bodyName]: value ?? null } : given(body)
  return SwaggerClient.buildRequest({
    spec,
    operationId: `${operation.method.toLowerCase()}-${operation.path}`,
    baseURL: ORIGIN,
    parameters: {
      ...given(path, 'path.'),
      ...given(query, 'query.'),
      ...given(header, 'header.'),
      // Some declare it as a required parameter, which OpenAPI ignores (3.0.3 §4.7.12.1).
      'header.Content-Type': contentType ?? 'application/json',
      ...(isSwagger && ofSwagger),
    },
    ...(!isSwagger &&
      template !== undefined && { requestBody: value, requestContentType: contentType ?? 'application/json' }),
  })
}
