import { readFileSync } from 'node:fs'
import { createSecureServer } from 'node:http2'
import type { Socket } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { OutboundFault } from '../../../src/lib/outbound/outbound-fault.ts'
import { buildClient, faultOf, listen, requestTo, resolverOf, startApi, startRawApi, startTlsApi } from './apis.ts'

const HEAD = 'HTTP/1.1 200 OK\r\n'
const interim = (count: number): string => 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(count)

type RawAnswer = (socket: Socket) => void
const RAW: readonly (readonly [what: string, answer: RawAnswer, fault: OutboundFault, says: string])[] = [
  ['resets the connection', socket => socket.resetAndDestroy(), 'reset', 'without a response'],
  ['closes it without a byte', socket => socket.end(), 'reset', 'without a response'],
  ['closes it within the headers', socket => socket.end(`${HEAD}Content-`), 'reset', 'closed the connection'],
  ['closes it within the body', socket => socket.end(`${HEAD}content-length: 9\r\n\r\nabc`), 'reset', 'complete'],
  [
    'closes it within a large body',
    socket => socket.end(`${HEAD}content-length: 3000000\r\n\r\n${'a'.repeat(2_000_000)}`),
    'reset',
    'complete',
  ],
  [
    'closes it within a chunk',
    socket => socket.end(`${HEAD}transfer-encoding: chunked\r\n\r\n5\r\nab`),
    'reset',
    'complete',
  ],
  [
    'resets it within the body',
    socket => socket.write(`${HEAD}content-length: 9\r\n\r\nabc`, () => socket.resetAndDestroy()),
    'reset',
    'closed the connection',
  ],
  [
    'speaks another protocol',
    socket => socket.end('SSH-2.0-OpenSSH_9.9\r\n'),
    'protocol',
    'whether the URL should be https',
  ],
  [
    'breaks its chunks',
    socket => socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\nzz\r\n`),
    'protocol',
    'not HTTP/1.1',
  ],
  [
    'names two lengths',
    socket => socket.write(`${HEAD}content-length: 1\r\ncontent-length: 2\r\n\r\na`),
    'protocol',
    'not HTTP/1.1',
  ],
  [
    'switches protocols unasked',
    socket => socket.write('HTTP/1.1 101 Yes\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    'protocol',
    'not HTTP/1.1',
  ],
  ['floods with interim responses', socket => socket.write(interim(100)), 'protocol', 'interim'],
]

describe('an API that', () => {
  it.each(RAW)('%s gives a specific fault', async (_, answer, fault, says) => {
    const api = await startRawApi(answer)
    const error = await faultOf(buildClient().send(requestTo(`http://api.test:${api.port}/`)))
    expect([error.fault, error.message]).toEqual([fault, expect.stringContaining(says)])
    expect(error.message).toMatch(/^api\.test:\d+ .* \(after \d+ ms\)$/)
    await expect.poll(() => api.open.size).toBe(0)
  })

  it('sends more than its length loses the rest, and its connection is not reused', async () => {
    const api = await startRawApi(socket => socket.write(`${HEAD}content-length: 2\r\n\r\nabHTTP/1.1 200 OK\r\n\r\n`))
    const client = buildClient()
    for (let count = 1; count <= 2; count++) {
      const answer = await client.send(requestTo(`http://api.test:${api.port}/`))
      expect(answer.body.toString()).toBe('ab')
      expect(api.connections).toBe(count)
    }
  })

  it('does not listen gives refused', async () => {
    const api = await startApi((_, response) => response.end())
    const client = buildClient({
      lookup: resolverOf({ 'api.test': ['127.0.0.3'] }),
      policy: () => ({ ok: true, value: undefined }),
    })
    const error = await faultOf(client.send(requestTo(`http://api.test:${api.port}/`)))
    expect([error.fault, error.message]).toEqual(['refused', expect.stringContaining('check the port')])
  })

  it('has no address gives dns', async () => {
    const client = buildClient({ lookup: resolverOf({ 'empty.test': [] }) })
    for (const host of ['nowhere.test', 'empty.test']) {
      const error = await faultOf(client.send(requestTo(`http://${host}/`)))
      expect([error.fault, error.message]).toEqual([
        'dns',
        expect.stringContaining(`the name ${host} does not resolve`),
      ])
    }
  })

  it.each([
    ['EAI_AGAIN', 'dns', 'at the moment'],
    ['EHOSTUNREACH', 'unreachable', '(EHOSTUNREACH)'],
    ['EMFILE', 'unreachable', 'raise the limit (ulimit -n)'],
    ['ENETUNREACH', 'unreachable', '(ENETUNREACH)'],
    ['ETIMEDOUT', 'connect_timeout', 'did not accept a connection'],
  ])('cannot be reached with %s gives %s', async (code, fault, says) => {
    const client = buildClient({
      lookup: (_host, _options, callback) => callback(Object.assign(new Error(), { code }), []),
    })
    const error = await faultOf(client.send(requestTo('http://api.test/')))
    expect([error.fault, error.message]).toEqual([fault, expect.stringContaining(says)])
  })
})

describe('a timeout', () => {
  it('of the connection is shorter than that of the request', async () => {
    const client = buildClient({ lookup: () => {}, connectTimeoutMs: 50 })
    const error = await faultOf(client.send(requestTo('http://api.test/')))
    expect([error.fault, error.message]).toEqual([
      'connect_timeout',
      expect.stringContaining('did not accept a connection in time'),
    ])
  })

  const WAITS: readonly (readonly [what: string, answer: RawAnswer, says: string])[] = [
    ['before the response', () => {}, 'did not respond in time'],
    ['within the headers', socket => socket.write(`${HEAD}x: `), 'did not respond in time'],
    ['within the body', socket => socket.write(`${HEAD}content-length: 9\r\n\r\na`), 'did not finish its response'],
    [
      'while data keeps arriving',
      socket => {
        socket.write(`${HEAD}content-length: 999999\r\n\r\n`)
        const drip = setInterval(() => socket.write('a'), 5)
        socket.on('close', () => clearInterval(drip))
      },
      'did not finish its response',
    ],
  ]
  it.each(WAITS)('%s fails the request and closes the connection', async (_, answer, says) => {
    const api = await startRawApi(answer)
    const error = await faultOf(buildClient().send(requestTo(`http://api.test:${api.port}/`, { timeoutMs: 60 })))
    expect([error.fault, error.message]).toEqual(['timeout', expect.stringContaining(says)])
    expect(error.message).toContain("raise the tool's timeoutMs")
    await expect.poll(() => api.open.size).toBe(0)
  })

  it('of silence within the body fails the request', async () => {
    const api = await startRawApi(socket => socket.write(`${HEAD}content-length: 9\r\n\r\na`))
    const client = buildClient({ bodyIdleMs: 50 })
    const error = await faultOf(client.send(requestTo(`http://api.test:${api.port}/`)))
    expect([error.fault, error.message]).toEqual(['timeout', expect.stringContaining('sent nothing for 50 ms')])
  })

  it('while waiting for a connection fails the request', async () => {
    const api = await startRawApi(() => {})
    const client = buildClient({ maxSockets: 1 })
    const url = `http://api.test:${api.port}/`
    const controller = new AbortController()
    const first = faultOf(client.send(requestTo(url, { signal: controller.signal })))
    const error = await faultOf(client.send(requestTo(url, { timeoutMs: 30 })))
    expect([error.fault, error.message]).toEqual(['timeout', expect.stringContaining('became free')])
    controller.abort()
    expect((await first).fault).toBe('aborted')
  })
})

const pem = (name: string): string => readFileSync(new URL(`../../support/tls/${name}.pem`, import.meta.url), 'utf8')
const certificate = (name: string) => ({ key: pem('key'), cert: pem(name) })

describe('TLS', () => {
  const trust = (name: string): void => {
    const before = getCACertificates('default')
    setDefaultCACertificates([pem(name)])
    onTestFinished(() => setDefaultCACertificates(before))
  }

  it('with a trusted certificate uses HTTP/1.1, although the API prefers HTTP/2', async () => {
    const options = { ...certificate('self-signed'), allowHTTP1: true }
    const api = await listen(createSecureServer(options, (request, response) => response.end(request.httpVersion)))
    trust('self-signed')
    const answer = await buildClient().send(requestTo(`https://api.test:${api.port}/`))
    expect(answer.body.toString()).toBe('1.1')
  })

  it.each([
    ['is self-signed', 'self-signed', undefined, 'api.test', 'is self-signed'],
    ['has expired', 'expired', 'expired', 'api.test', 'has expired'],
    ['is for another host', 'self-signed', 'self-signed', 'other.test', 'is for another host'],
    ['is for a name, not the address', 'self-signed', 'self-signed', '127.0.0.1', 'is for another host'],
  ])('with a certificate that %s is refused', async (_, name, trusted, host, says) => {
    const requests: string[] = []
    const api = await startTlsApi(certificate(name), ({ url = '' }, response) => {
      requests.push(url)
      response.end()
    })
    if (trusted !== undefined) trust(trusted)
    const error = await faultOf(buildClient().send(requestTo(`https://${host}:${api.port}/`)))
    expect([error.fault, error.message]).toEqual([
      'tls',
      expect.stringContaining(`the certificate of ${host}:${api.port} ${says}`),
    ])
    expect(requests).toEqual([])
  })

  it('is required by an https URL: a plain port and a closing one fail the handshake', async () => {
    const plain = await startApi((_, response) => response.end())
    const client = buildClient()
    const error = await faultOf(client.send(requestTo(`https://api.test:${plain.port}/`)))
    expect([error.fault, error.message]).toEqual(['tls', expect.stringContaining('TLS handshake')])
    const closing = await startRawApi(socket => socket.end())
    const closed = await faultOf(client.send(requestTo(`https://api.test:${closing.port}/`)))
    expect([closed.fault, closed.message]).toEqual(['tls', expect.stringContaining('TLS handshake')])
  })

  it('fails a request to an http URL', async () => {
    const api = await startTlsApi(certificate('self-signed'), (_, response) => response.end())
    const error = await faultOf(buildClient().send(requestTo(`http://api.test:${api.port}/`)))
    expect(['protocol', 'reset']).toContain(error.fault)
  })

  it('is never downgraded to http by a redirect', async () => {
    const plain = await startApi((_, response) => response.end())
    const location = `http://api.test:${plain.port}/`
    const api = await startTlsApi(certificate('self-signed'), (_, response) =>
      response.writeHead(302, { location }).end(),
    )
    trust('self-signed')
    const error = await faultOf(buildClient().send(requestTo(`https://api.test:${api.port}/`)))
    expect([error.fault, error.message]).toEqual(['blocked', expect.stringContaining('from https to http')])
    expect(plain.connections).toBe(0)
  })
})
