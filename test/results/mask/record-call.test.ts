import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ExecutionRecord } from '../../../src/history/execution-record.ts'
import type { JsonObject } from '../../../src/lib/kernel/json.ts'
import { createMasker } from '../../../src/results/mask/masking.ts'
import { recordCall } from '../../../src/results/mask/record-call.ts'
import type { RenderedRequest } from '../../../src/templates/template.ts'
import { isSecretArgument } from '../../../src/tools/secret-parameters.ts'

const record = (values: JsonObject, request: Partial<RenderedRequest>, error?: string): ExecutionRecord => {
  const records: ExecutionRecord[] = []
  recordCall({ record: one => records.push(one) }, createMasker(['of-the-server']), {
    serverId: '0190a0a0-0000-7000-8000-000000000001',
    tool: 'book',
    caller: undefined,
    client: undefined,
    startedAt: new Date(),
    durationMs: 1,
    result: error === undefined ? 'success' : 'failed',
    status: 200,
    requestBytes: 0,
    responseBytes: 0,
    error,
    request: { method: 'POST', url: 'https://api.example.com/', headers: [], body: undefined, ...request },
    arguments: { values, isSecret: isSecretArgument },
  })
  const [recorded] = records
  if (recorded === undefined) throw new Error('nothing was recorded')
  return recorded
}

describe('the recorded request of a call', () => {
  it('hides a secret argument in every place to which a tool sends it', () => {
    const secrets = fc
      .string({ minLength: 6, maxLength: 60, unit: 'grapheme-ascii' })
      .filter(text => /\S{3}/.test(text))
    fc.assert(
      fc.property(secrets, secret => {
        const inJson = JSON.stringify(secret).slice(1, -1)
        const base64 = Buffer.from(`user:${secret}`).toString('base64')
        const { request } = record(
          { account: { password: secret }, depot: 'LEJ' },
          {
            url: `https://api.example.com/?key=${encodeURIComponent(secret)}&depot=LEJ`,
            headers: [
              ['x-api-key', secret],
              ['authorization', `Basic ${base64}`],
            ],
            body: `{"password": "${inJson}"}`,
          },
        )
        expect(request?.url).toBe('https://api.example.com/?key=•••&depot=LEJ')
        expect(request?.body).toBe('{"password": "•••"}')
        expect(request?.headers[0]).toEqual(['x-api-key', '•••'])
        expect(request?.headers[1]?.[1]).not.toContain(base64)
      }),
    )
  })

  it('hides it in the error and in other arguments, and a number like a text', () => {
    const {
      error,
      request,
      arguments: args,
    } = record(
      { client_secret: 48_151_623, note: 'It is 48151623.', count: 3 },
      { url: 'https://api.example.com/48151623' },
      'The API responded with: unknown client 48151623, of-the-server',
    )
    expect(error).toBe('The API responded with: unknown client •••, •••')
    expect(request?.url).toBe('https://api.example.com/•••')
    expect(args).toEqual({ values: { count: 3 }, cut: [], masked: ['client_secret', 'note'] })
  })

  it('has only its method if the secret is too long to be searched for', () => {
    const password = 'x'.repeat(9_000)
    const { request, error } = record({ password }, { body: `${password}tail`, headers: [['x', password]] }, password)
    expect(request).toMatchObject({ method: 'POST', url: '•••', headers: [], body: undefined })
    expect(error).toBe('•••')
  })
})
