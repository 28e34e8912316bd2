import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAddressPolicy } from '../../../src/lib/outbound/address-policy.ts'
import type { InProcessOrigin, OutboundRequest, OutboundResponse } from '../../../src/lib/outbound/outbound-request.ts'
import { runsOf } from '../../support/cases-of-run.ts'
import { buildClient, faultOf, requestTo, startApi } from './apis.ts'

const answerWith = (response: Partial<OutboundResponse>): OutboundResponse => ({
  status: 200,
  statusText: 'OK',
  headers: {},
  body: Buffer.alloc(0),
  url: '',
  ...response,
})

const inside = (origin: InProcessOrigin) =>
  buildClient({ policy: createAddressPolicy({ allow: [] }), inProcess: new Map([['http://inside.test', origin]]) })

describe('an origin inside this process', () => {
  it('responds without the network, whatever the address policy', async () => {
    const seen: OutboundRequest[] = []
    const client = inside(async request => {
      seen.push(request)
      return answerWith({ body: Buffer.from('hello') })
    })
    const headers = [['x-key', 'k']] as const
    const request = requestTo('HTTP://INSIDE.test:80/a?b=1#c', { method: 'POST', headers, body: '{}' })
    const answer = await client.send(request)
    expect(answer).toMatchObject({ status: 200, url: 'http://inside.test/a?b=1' })
    expect(answer.body.toString()).toBe('hello')
    expect(seen).toMatchObject([{ method: 'POST', url: 'http://inside.test/a?b=1', headers, body: '{}' }])
  })

  it('is checked by mayReach like any other', async () => {
    const client = inside(async () => answerWith({}))
    const error = await faultOf(client.send(requestTo('http://inside.test/', { mayReach: () => false })))
    expect(error.fault).toBe('blocked')
  })

  it('that responds with too much fails with too_large', async () => {
    const client = inside(async () => answerWith({ body: Buffer.alloc(11) }))
    const error = await faultOf(client.send(requestTo('http://inside.test/', { maxResponseBytes: 10 })))
    expect(error.fault).toBe('too_large')
  })

  it('that throws fails without revealing why', async () => {
    const client = inside(async () => {
      throw new Error('a detail of ours')
    })
    const error = await faultOf(client.send(requestTo('http://inside.test/')))
    expect(error.fault).toBe('reset')
    expect(error.message).not.toContain('detail')
  })

  it('that never responds ends with the timeout or the signal', async () => {
    const client = inside(() => new Promise(() => {}))
    expect((await faultOf(client.send(requestTo('http://inside.test/', { timeoutMs: 20 })))).fault).toBe('timeout')
    const controller = new AbortController()
    const call = faultOf(client.send(requestTo('http://inside.test/', { signal: controller.signal })))
    controller.abort()
    expect((await call).fault).toBe('aborted')
  })

  it('can be the target and the source of a redirect, under the same checks', async () => {
    const api = await startApi(({ url }, response) => {
      if (url === '/in') response.writeHead(302, { location: 'http://inside.test/' }).end()
      else response.end('back')
    })
    const inProcess = new Map<string, InProcessOrigin>([
      [
        'http://inside.test',
        async () => answerWith({ status: 302, headers: { location: `http://api.test:${api.port}/out` } }),
      ],
    ])
    const answer = await buildClient({ inProcess }).send(requestTo(`http://api.test:${api.port}/in`))
    expect(answer.body.toString()).toBe('back')
    expect(answer.url).toBe(`http://api.test:${api.port}/out`)
  })
})

describe('a URL of a known origin', () => {
  it('is parsed exactly as by the URL standard', async () => {
    const client = inside(async ({ url }) => answerWith({ body: Buffer.from(url) }))
    await client.send(requestTo('http://inside.test/'))
    const piece = fc.oneof(
      fc.constantFrom(
        '/',
        '/.',
        '/..',
        '/%2e',
        '/.%2E/',
        '//',
        '?',
        '&',
        '=',
        '#',
        '%',
        '%41',
        "'",
        '"',
        '|',
        '^',
        '{',
        '`',
        ':',
        '@',
        '[',
        '~',
      ),
      fc.string({ unit: 'grapheme', maxLength: 4 }),
    )
    const path = fc.array(piece, { maxLength: 8 }).map(pieces => `/${pieces.join('')}`)
    await fc.assert(
      fc.asyncProperty(path, async text => {
        const url = `http://inside.test${text}`
        const expected = new URL(url)
        expected.hash = ''
        const answer = await client.send(requestTo(url)).catch(() => undefined)
        // Other tests cover refusals. Whatever is sent must follow the standard.
        const unambiguous = /^[\x21-\x5b\x5d-\x7e\u00a0-\uffff]*$/.test(url)
        expect(answer?.body.toString()).toBe(unambiguous ? expected.href : undefined)
      }),
      { numRuns: runsOf(500) },
    )
  })
})
