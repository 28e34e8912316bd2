import type { ServerResponse } from 'node:http'
import { answerJson } from '../../support/fake-api.ts'

export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
/** The smallest WAV file: a 44-byte header and no samples. */
export const WAV = Buffer.from('UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=', 'base64')

const sendParts = (response: ServerResponse): void => {
  const part = (type: string, body: Buffer | string) =>
    Buffer.concat([Buffer.from(`--part\r\nContent-Type: ${type}\r\n\r\n`), Buffer.from(body), Buffer.from('\r\n')])
  response.writeHead(200, { 'content-type': 'multipart/mixed; boundary=part' })
  const parts = [
    part('text/plain', 'Multiple content types test:'),
    part('image/png', PNG),
    part('application/pdf', '%PDF'),
  ]
  response.end(Buffer.concat([...parts, Buffer.from('--part--\r\n')]))
}

/** The API's responses, by path. */
export const ANSWERS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '/text': response =>
    response.writeHead(200, { 'content-type': 'text/plain' }).end('This is a simple text response for testing.'),
  '/image': response => response.writeHead(200, { 'content-type': 'image/png' }).end(PNG),
  '/audio': response => response.writeHead(200, { 'content-type': 'audio/wav' }).end(WAV),
  '/resource': response => response.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF'),
  '/mixed': sendParts,
  '/error': response => answerJson(response, { error: 'This tool intentionally returns an error for testing' }, 500),
  '/json': response => answerJson(response, { ok: true }),
}

const get = (name: string, path: string) => (origin: string) => ({
  name,
  description: `Answers ${path} of the test API.`,
  method: 'GET',
  url: `${origin}${path}`,
})

/** An input schema with the keywords of JSON Schema 2020-12 for which the suite looks. */
export const NEWEST_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object' as const,
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
}

/** Defines the tools that the official suite calls, as a builder would. */
export const conformanceTools = (origin: string) => [
  get('test_simple_text', '/text')(origin),
  get('test_image_content', '/image')(origin),
  get('test_audio_content', '/audio')(origin),
  get('test_embedded_resource', '/resource')(origin),
  get('test_multiple_content_types', '/mixed')(origin),
  get('test_error_handling', '/error')(origin),
  // For the logging and elicitation tools, the suite only checks that the server sends no log message and no request.
  get('test_logging_tool', '/text')(origin),
  get('test_trigger_tool_change', '/change')(origin),
  get('test_streaming_elicitation', '/text')(origin),
  {
    ...get('test_custom_headers', '/text?region={{region?}}')(origin),
    inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
  },
  {
    name: 'json_schema_2020_12_tool',
    description: 'Tool with JSON Schema 2020-12 features',
    method: 'POST',
    url: `${origin}/json`,
    body: '{"name": {{name?}}, "address": {{json:address?}}, "contactMethod": {{contactMethod?}}, "phone": {{phone?}}, "email": {{email?}}}',
    inputSchema: NEWEST_SCHEMA,
  },
]
