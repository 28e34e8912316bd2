import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'

const GIVE_OPENAPI = 'Give a description in OpenAPI 3.0, 3.1, 3.2 or Swagger 2.0.'

/** Texts that other parsers would only report a syntax error for. */
const OTHER_TEXTS: readonly (readonly [RegExp, string])[] = [
  [
    /^<(?:!doctype html|html|head|body|script)\b/i,
    'It is an HTML page. Give the address or the file of the description itself, which often ends in openapi.json or openapi.yaml.',
  ],
  [/^<[^>]*(?:wsdl|definitions)\b/i, `It is a WSDL document. ${GIVE_OPENAPI}`],
  [/^<[?!a-z]/i, `It is an XML document. ${GIVE_OPENAPI}`],
  [/^#%RAML\b/, `It is a RAML document. ${GIVE_OPENAPI}`],
  [/^FORMAT: 1A\b/, `It is an API Blueprint. ${GIVE_OPENAPI}`],
  [/^(?:\/\/[^\n]*\n|\s)*syntax\s*=\s*"proto/, `It is a Protocol Buffers file. ${GIVE_OPENAPI}`],
  [
    /^(?:schema|type|extend|input|interface|scalar|directive)\s+[\w@]+[^:]*\{/,
    `It is a GraphQL schema. ${GIVE_OPENAPI}`,
  ],
  [/^\s*curl\s/, 'It is a curl command. Paste it into a new tool.'],
]

/** Returns what a text is if it is clearly no description. */
export const refuseText = (text: string): string | undefined => {
  const start = text.slice(0, 2_000).trimStart()
  if (start === '') return 'It is empty.'
  return OTHER_TEXTS.find(([pattern]) => pattern.test(start))?.[1]
}

const isPostman = ({ info, collection }: JsonObject): boolean => {
  const { schema, _postman_id: id }: JsonObject = isJsonObject(info) ? info : {}
  return (
    id !== undefined || (typeof schema === 'string' && schema.includes('getpostman.com')) || isJsonObject(collection)
  )
}

type Test = (root: JsonObject) => boolean

const OTHER_VALUES: readonly (readonly [Test, string])[] = [
  [root => 'asyncapi' in root, `It is an AsyncAPI description, which has no HTTP requests. ${GIVE_OPENAPI}`],
  [root => isPostman(root), 'It is a Postman collection, not an OpenAPI description.'],
  [root => isJsonObject(root.log) && Array.isArray(root.log.entries), 'It is a HAR file, not an OpenAPI description.'],
  [root => 'mcpServers' in root, 'It is the configuration of an MCP client. Import it with "patchbay import FILE".'],
  [root => 'openrpc' in root, `It is an OpenRPC description. ${GIVE_OPENAPI}`],
  [
    root => 'arazzo' in root,
    'It is an Arazzo description of workflows. Give the OpenAPI description that it refers to.',
  ],
  [root => 'overlay' in root, 'It is an OpenAPI overlay. Apply it to its description, and give the result.'],
  [
    root => '__schema' in root || (isJsonObject(root.data) && '__schema' in root.data),
    `It is a GraphQL schema. ${GIVE_OPENAPI}`,
  ],
  [root => root.kind === 'discovery#restDescription', `It is a Google API discovery document. ${GIVE_OPENAPI}`],
  [root => 'swaggerVersion' in root, `It is a Swagger 1.x description. ${GIVE_OPENAPI}`],
  [root => '$schema' in root && ('properties' in root || '$defs' in root), `It is a JSON Schema. ${GIVE_OPENAPI}`],
]

/** Versions are often written without quotes, and YAML then makes numbers of them. */
const versionOf = (value: JsonValue | undefined): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined

export type DescriptionFormat = { kind: 'swagger' | 'openapi'; version: string }

/** Returns the format of a description, or a sentence that says what the value is instead. */
export const identifyDescription = (value: JsonValue): DescriptionFormat | string => {
  if (!isJsonObject(value)) return `It is not an API description. ${GIVE_OPENAPI}`
  const swagger = versionOf(value.swagger)
  if (swagger !== undefined && /^2(?:\.0)?$/.test(swagger)) return { kind: 'swagger', version: '2.0' }
  const openapi = versionOf(value.openapi)
  if (openapi !== undefined && /^3\.[012](?:\.|-|$)/.test(openapi)) return { kind: 'openapi', version: openapi }
  const other = OTHER_VALUES.find(([test]) => test(value))
  if (other !== undefined) return other[1]
  if (openapi !== undefined) return `It is written in OpenAPI ${openapi.slice(0, 20)}. ${GIVE_OPENAPI}`
  return `It has neither "openapi" nor "swagger" at the top. ${GIVE_OPENAPI}`
}
