import { expect, it } from 'vitest'
import { createResponseCache } from '../../src/results/cache/response-cache.ts'
import { compileTool } from '../../src/runtime/compile-tool.ts'
import { NO_GLOBALS } from '../../src/runtime/opened-globals.ts'
import type { Bindings } from '../../src/servers/server.ts'
import type { ToolDefinition } from '../../src/tools/tool.ts'
import { assertDefinition } from '../../src/tools/tool-definition.ts'

const DEFINITION = {
  name: 'ship',
  method: 'POST',
  url: 'https://api.example.com/{{id}}?api_key={{query_key}}&key={{place}}&page_token={{page}}',
  headers: [
    { name: 'Authorization', value: 'Bearer {{carrier}}' },
    { name: 'X-Tenant', value: '{{tenant}}' },
  ],
  parameters: {},
}

/** Compiles the tool for a server with these bindings. */
const compiledWith = (bindings: Bindings, definition: ToolDefinition = DEFINITION) => {
  const times = { createdAt: new Date(), updatedAt: new Date() }
  const stored = { ...definition, ...times, id: 'a tool', toolkitId: 'a toolkit', originId: undefined }
  return compileTool(
    {
      ...times,
      id: 'an instance',
      serverId: 'a server',
      name: 'ship',
      description: undefined,
      maxResponseTokens: undefined,
      isEnabled: true,
      bindings,
      tool: stored,
    },
    assertDefinition(definition),
    NO_GLOBALS,
    {
      http: { send: async () => Promise.reject(new Error('nothing is sent')), close: async () => {} },
      recorder: { record: () => {} },
      limits: { maxResponseBytes: 1_000, maxToolTimeoutMs: 1_000 },
      responseCache: createResponseCache(),
      callAdmission: { admit: () => undefined },
      onInternalError: () => {},
    },
    {
      shaper: { shape: async () => ({ kind: 'failed', message: '' }) },
      schemaChecks: {
        createCheck: () => async () => ({ kind: 'match' }),
        createTrim: () => async () => ({ kind: 'match' }),
        findProblem: async () => undefined,
      },
      owner: 'a server',
      group: 'one',
      compactTables: false,
    },
  )
}

it('a secret whose value comes from the model is a finding, and the model can still set it', () => {
  const { findings, inputSchema } = compiledWith({ tenant: { source: 'exposed' } })
  expect(findings).toMatchObject([
    { rule: 'secret-from-model', level: 'warning', field: 'parameters', parameter: 'query_key' },
    { rule: 'secret-from-model', level: 'warning', field: 'parameters', parameter: 'carrier' },
  ])
  expect(inputSchema).toMatchObject({ properties: { query_key: {}, carrier: {} } })
})

it('a parameter that the tool binds to a secret by default is one, whatever its name', () => {
  const binding = { source: 'server', key: 'customer', secret: true } as const
  const withDefault = {
    ...DEFINITION,
    parameters: { tenant: { binding }, place: { binding: { ...binding, secret: false } } },
  }
  const { findings } = compiledWith({}, withDefault)
  const secrets = findings?.filter(({ rule }) => rule === 'secret-from-model')
  expect(secrets?.map(({ parameter }) => parameter)).toEqual(['query_key', 'carrier', 'tenant'])
})

it('a secret with any other source is not a finding', () => {
  const { findings } = compiledWith({
    carrier: { source: 'server', key: 'carrier_token' },
    query_key: { source: 'instance', value: 'public-demo' },
  })
  expect(findings).toBeUndefined()
})
