import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import type { ExecutionRecord } from '../../src/history/execution-record.ts'
import { createAddressPolicy } from '../../src/lib/outbound/address-policy.ts'
import { createHttpClient } from '../../src/lib/outbound/client.ts'
import { operatorLookup } from '../../src/lib/outbound/name-resolver.ts'
import { createResponseCache } from '../../src/results/cache/response-cache.ts'
import { createMasker, MaskingError } from '../../src/results/mask/masking.ts'
import type { ShapingContext } from '../../src/results/shape/shape-by-rules.ts'
import { compileTool } from '../../src/runtime/compile-tool.ts'
import { NO_GLOBALS } from '../../src/runtime/opened-globals.ts'
import { assertDefinition } from '../../src/tools/tool-definition.ts'
import { makeServer, signUp } from '../support/api-client.ts'
import { startTestApp } from '../support/app.ts'

const History = z.object({ items: z.array(z.object({ tool: z.string(), outcome: z.string(), error: z.string() })) })

it('a call whose plan cannot be built fails and is recorded like any failed call, and the operator sees why', async () => {
  const patchbay = await startTestApp()
  const http = createHttpClient({
    policy: createAddressPolicy({ allow: [] }),
    maxRedirects: 0,
    connectTimeoutMs: 1_000,
    maxSockets: 1,
    ownOrigins: [],
    lookup: operatorLookup(),
  })
  onTestFinished(async () => {
    await http.close()
    await patchbay.close()
  })
  const builder = await signUp(patchbay.origin)
  const { serverId, instanceIds } = await makeServer(builder, [
    { name: 'tool', method: 'GET', url: 'http://a.example/' },
  ])
  const { db, recorder } = patchbay.services
  const row = await db.instance.findUniqueOrThrow({ where: { id: instanceIds.tool ?? '' }, include: { tool: true } })
  const definition = { name: 'tool', method: 'GET', url: 'http://a.example/', headers: [], parameters: {} }
  const { id, toolkitId, createdAt, updatedAt } = row.tool
  // A definition stored by another version of the program: it compiled when the server was mounted, but no longer does.
  const broken = { ...definition, url: '{{', id, toolkitId, originId: undefined, createdAt, updatedAt }
  const heard: unknown[] = []
  const tool = compileTool(
    {
      id: row.id,
      serverId,
      name: 'tool',
      description: undefined,
      maxResponseTokens: undefined,
      isEnabled: true,
      bindings: {},
      tool: broken,
      createdAt,
      updatedAt,
    },
    assertDefinition(definition),
    NO_GLOBALS,
    {
      http,
      recorder,
      limits: { maxResponseBytes: 1_000, maxToolTimeoutMs: 1_000 },
      responseCache: createResponseCache(),
      callAdmission: { admit: () => undefined },
      onInternalError: error => heard.push(error),
    },
    { ...patchbay.services, owner: serverId, group: 'one', compactTables: false },
  )

  const { signal } = new AbortController()
  const { result } = await tool.call({}, { caller: undefined, client: undefined, signal })
  expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(/^Patchbay failed/) }] })
  expect(heard).toMatchObject([{ message: 'the tool tool no longer compiles' }])
  await recorder.flush()
  const history = History.parse((await builder.expectOk('GET', `/servers/${serverId}/executions`)).body)
  expect(history.items).toMatchObject([
    { tool: 'tool', outcome: 'error', error: expect.stringMatching(/^Patchbay failed/) },
  ])
})

it('a cached tool whose response cannot be masked fails, and the history has the status and size of the response', async () => {
  const response = {
    status: 203,
    statusText: '',
    headers: { 'content-type': 'text/plain' },
    body: Buffer.from('lorem ipsum '.repeat(30_000)),
    url: 'http://a.example/',
  }
  const definition = { name: 'tool', method: 'GET', url: response.url, headers: [], parameters: {} }
  const times = { createdAt: new Date(), updatedAt: new Date() }
  const caching = { cacheSeconds: 60, annotations: { readOnlyHint: true } }
  const instance = { id: 'an instance', serverId: 'a server', name: 'tool', description: undefined, bindings: {} }
  const stored = { ...definition, ...caching, ...times, id: 'a tool', toolkitId: 'a toolkit', originId: undefined }
  const fail = () => Promise.reject(new MaskingError('Ask the tool for less.'))
  const masker = createMasker(['a secret'], { find: fail, maskUtf8: fail })
  const records: ExecutionRecord[] = []
  const shaper: ShapingContext['shaper'] = { shape: async () => ({ kind: 'failed', message: '' }) }
  const tool = compileTool(
    { ...instance, ...times, maxResponseTokens: undefined, isEnabled: true, tool: stored },
    assertDefinition(definition),
    { ...NO_GLOBALS, masker },
    {
      http: { send: async () => response, close: async () => {} },
      recorder: { record: one => records.push(one) },
      limits: { maxResponseBytes: 1_000_000, maxToolTimeoutMs: 1_000 },
      responseCache: createResponseCache(),
      callAdmission: { admit: () => undefined },
      onInternalError: () => {},
    },
    {
      shaper,
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
  const { signal } = new AbortController()
  const { result } = await tool.call({}, { caller: { userId: 'a user', tokenId: '' }, client: undefined, signal })
  expect(result).toMatchObject({ isError: true, content: [{ text: 'Ask the tool for less.' }] })
  expect(records).toMatchObject([{ outcome: 'error', status: 203, responseBytes: response.body.length }])
})
