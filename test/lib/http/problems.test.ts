import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { AppError } from '../../../src/lib/kernel/errors.ts'
import { MAX_JSON_DEPTH, MAX_REQUEST_BYTES } from '../../../src/lib/kernel/limits.ts'
import { QueueFullError } from '../../../src/lib/worker/fair-queue.ts'
import { buildHttpApp, type HttpAppOptions } from '../../support/http-app.ts'

const ANYONE = { access: 'anyone' } as const

const routes: HttpAppOptions['routes'] = async app => {
  const body = z.object({
    headers: z.array(z.object({ name: z.string(), value: z.string() })).optional(),
    parameters: z.record(z.string(), z.object({ minimum: z.number() })).optional(),
    source: z.union([z.object({ key: z.string() }), z.object({ value: z.object({ deep: z.number() }) })]).optional(),
    value: z.union([z.string(), z.number(), z.boolean()]).optional(),
    choice: z
      .discriminatedUnion(
        'type',
        [z.object({ type: z.literal('a') }), z.object({ type: z.literal('b') })],
        'is not a or b',
      )
      .optional(),
    tree: z.unknown().optional(),
  })
  app.post(
    '/things',
    { config: ANYONE, schema: { body, response: { 201: z.object({ name: z.string() }) } } },
    async (_request, reply) => reply.code(201).send({ name: 'made' }),
  )
  app.get('/things/:id', { config: ANYONE, schema: { params: z.object({ id: z.uuid() }) } }, async () => ({}))
  app.delete('/things/:id', { config: ANYONE, schema: { response: { 204: z.null() } } }, async (_request, reply) =>
    reply.code(204).send(null),
  )
  app.get('/busy', { config: ANYONE }, async () => {
    throw new AppError('rate_limited', 'Come back later.', { retryAfterSeconds: 7 })
  })
  app.get('/queue', { config: ANYONE }, async () => {
    throw new QueueFullError()
  })
  app.get('/broken', { config: ANYONE }, async () => {
    throw new Error('SELECT password FROM secrets', { cause: new AppError('not_found', 'inner') })
  })
  app.get('/lying', { config: ANYONE, schema: { response: { 200: z.object({ name: z.string() }) } } }, async () =>
    JSON.parse('{"name":1}'),
  )
}

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`

const send = async (
  payload: string | Buffer,
  headers: Record<string, string> = { 'content-type': 'application/json' },
) => {
  const { app } = await buildHttpApp({ routes })
  return app.inject({ method: 'POST', url: '/api/v1/things', payload, headers: { host: 'localhost', ...headers } })
}

describe('an invalid body', () => {
  it.each([
    ['{"headers":[{"name":"a","value":1}]}', 'headers[0].value'],
    ['{"parameters":{"a/b":{"minimum":"1"}}}', 'parameters["a/b"].minimum'],
    ['{"parameters":{"0":{"minimum":"1"}}}', 'parameters["0"].minimum'],
    ['{"source":{"value":{"deep":"x"}}}', 'source.value.deep'],
    ['[]', ''],
  ])('is rejected with the path of each error: %s', async (payload, path) => {
    const response = await send(payload)
    expect(response.statusCode).toBe(400)
    expect(response.headers['content-type']).toBe('application/problem+json')
    expect(response.json()).toMatchObject({
      type: 'urn:patchbay:error:invalid_request',
      title: expect.any(String),
      status: 400,
      detail: expect.stringContaining('body'),
      errors: [{ path, message: expect.any(String) }],
    })
  })

  it('is rejected with the allowed types if there are several', async () => {
    const response = await send('{"value":{}}')
    expect(response.json().errors).toEqual([
      { path: 'value', message: 'Invalid input: expected string, number or boolean' },
    ])
  })

  it("is rejected with a schema's own message for an unknown variant", async () => {
    const response = await send('{"choice":{"type":"c"}}')
    expect(response.json().errors).toEqual([{ path: 'choice.type', message: 'is not a or b' }])
  })

  it.each([
    ['cut off', '{"tree":'],
    ['holding __proto__', '{"tree":{"__proto__":{"polluted":true}}}'],
    ['holding __proto__ written with escapes', '{"tree":{"\\u005f_proto__":{"polluted":true}}}'],
    ['containing a lone surrogate', '{"tree":"\\ud83d"}'],
    ['containing a lone surrogate in a key', '{"tree":{"\\ud83d":1}}'],
    ['holding NUL', '{"tree":["\\u0000"]}'],
  ])('is rejected if it is JSON %s', async (_what, payload) => {
    const response = await send(payload)
    expect(response.statusCode).toBe(400)
    expect(response.json().detail).toContain('JSON')
  })

  it('may have a hundred thousand members and no more', async () => {
    const zeros = (count: number) => `{"tree":[${Array(count).fill('0').join(',')}]}`
    // The limit counts the two brackets and the commas between the zeros.
    expect((await send(zeros(99_999))).statusCode).toBe(201)
    const tooMany = await send(zeros(100_000))
    expect(tooMany.statusCode).toBe(400)
    expect(tooMany.json().detail).toContain('more than 100000 members')
    expect((await send(`{"tree":"${',[{'.repeat(50_000)}"}`)).statusCode).toBe(201)
  })

  it('is rejected with at most a hundred errors', async () => {
    const response = await send(`{"headers":[${Array(5_000).fill('{"name":1}').join(',')}]}`)
    expect(response.statusCode).toBe(400)
    const { errors } = z.object({ errors: z.array(z.object({ path: z.string() })) }).parse(response.json())
    expect(errors).toHaveLength(100)
    expect(errors[99]?.path).toBe('headers[49].value')
  })

  it('pollutes no prototype by way of a constructor', async () => {
    const response = await send('{"tree":{"constructor":{"prototype":{"polluted":true}}}}')
    expect(response.statusCode).toBe(201)
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })

  it('may be nested up to the limit; beyond it the error names the setting', async () => {
    expect((await send(`{"tree":${nested(MAX_JSON_DEPTH - 1)}}`)).statusCode).toBe(201)
    const tooDeep = await send(`{"tree":${nested(MAX_JSON_DEPTH)}}`)
    expect(tooDeep.statusCode).toBe(400)
    expect(tooDeep.json().detail).toContain('PATCHBAY_MAX_JSON_DEPTH')
    expect((await send(nested(100_000))).statusCode).toBe(400)
  })

  it('is rejected with 413 if it is larger than the limit, naming the setting', async () => {
    const response = await send(`"${'a'.repeat(5 * 1_024 * 1_024)}"`)
    expect(response.statusCode).toBe(413)
    expect(response.json().detail).toContain(`${MAX_REQUEST_BYTES} bytes (PATCHBAY_MAX_REQUEST_BYTES)`)
  })

  it.each([
    ['a form', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['text', '{}', { 'content-type': 'text/plain' }],
    ['of no type', '{}', {}],
    ['compressed', Buffer.from('1f8b0800', 'hex'), { 'content-type': 'application/json', 'content-encoding': 'gzip' }],
  ])('is rejected with 415 if it is %s', async (_what, payload, headers) => {
    const response = await send(payload, headers)
    expect(response.statusCode).toBe(415)
    expect(response.json()).toMatchObject({ type: 'urn:patchbay:error:unsupported_media_type', status: 415 })
  })
})

describe('a failing request', () => {
  const get = async (url: string) => {
    const { app, logs } = await buildHttpApp({ routes })
    return { response: await app.inject({ url, headers: { host: 'localhost' } }), logs }
  }

  it('says when to retry', async () => {
    const { response } = await get('/api/v1/busy')
    expect(response.statusCode).toBe(429)
    expect(response.headers['retry-after']).toBe('7')
  })

  it.each(['/api/v1/broken', '/api/v1/lying'])(
    'by a fault of ours shows a fixed text and is logged once: %s',
    async url => {
      const { response, logs } = await get(url)
      expect(response.statusCode).toBe(500)
      const { requestId, ...problem } = response.json()
      expect(problem).toEqual({
        type: 'urn:patchbay:error:internal',
        title: 'Internal error',
        status: 500,
        detail: 'Something went wrong inside Patchbay.',
      })
      expect(response.headers['x-request-id']).toBe(requestId)
      expect(logs.filter(line => z.object({ level: z.literal(50) }).safeParse(line).success)).toEqual([
        expect.objectContaining({ requestId, route: url }),
      ])
    },
  )

  it('because a queue is full says when to try again', async () => {
    const { response } = await get('/api/v1/queue')
    expect(response.statusCode).toBe(503)
    expect(response.headers['retry-after']).toBe('30')
    expect(response.json()).toMatchObject({
      type: 'urn:patchbay:error:unavailable',
      detail: 'Patchbay has too much to do at the moment. Try again in half a minute.',
    })
  })

  it('with an invalid id returns 404 without naming it', async () => {
    const { response } = await get('/api/v1/things/1')
    expect(response.statusCode).toBe(404)
    expect(response.json()).toMatchObject({ type: 'urn:patchbay:error:not_found' })
  })

  it.each(['/%zz', '/api/v1/things/%00', '/api/v1/busy?a=%00'])(
    'by an address that cannot be read gets 400: %s',
    async url => {
      const { response } = await get(url)
      expect(response.statusCode).toBe(400)
      expect(response.headers['content-type']).toBe('application/problem+json')
    },
  )

  it('with a very long id returns 404 without naming it', async () => {
    const { response } = await get(`/api/v1/things/${'a'.repeat(300)}`)
    expect(response.statusCode).toBe(404)
    expect(response.json()).toMatchObject({ type: 'urn:patchbay:error:not_found' })
  })

  it('to an unknown path returns 404', async () => {
    const { response } = await get('/api/v1/nothing')
    expect(response.statusCode).toBe(404)
    expect(response.json()).toMatchObject({ type: 'urn:patchbay:error:not_found' })
  })

  it('with an unsupported method returns 405 with the allowed ones', async () => {
    const { app } = await buildHttpApp({ routes })
    const response = await app.inject({ method: 'PUT', url: '/api/v1/things/x?y', headers: { host: 'localhost' } })
    expect(response.statusCode).toBe(405)
    expect(new Set(String(response.headers.allow).split(', '))).toEqual(new Set(['GET', 'HEAD', 'DELETE']))
  })
})

describe('an answer', () => {
  it('of 204 has no body', async () => {
    const { app } = await buildHttpApp({ routes })
    const response = await app.inject({ method: 'DELETE', url: '/api/v1/things/x', headers: { host: 'localhost' } })
    expect([response.statusCode, response.body]).toEqual([204, ''])
  })

  it('of the API must not be stored, sniffed or framed; other responses have no such headers', async () => {
    const { app } = await buildHttpApp({ routes })
    const { headers } = await app.inject({ url: '/api/v1/busy', headers: { host: 'localhost' } })
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none';frame-ancestors 'none'",
    })
    const outside = await app.inject({ url: '/outside', headers: { host: 'localhost' } })
    expect(outside.headers).not.toHaveProperty('content-security-policy')
  })
})
