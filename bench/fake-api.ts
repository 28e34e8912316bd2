/**
 * The HTTP API that every tool of the benchmark calls. Bodies are created once, so that a response costs little
 * compared with the work of the server under test.
 *
 *   node bench/fake-api.ts --port 9100
 */
import { createServer, type ServerResponse } from 'node:http'
import { parseArgs } from 'node:util'

const { values } = parseArgs({ options: { port: { type: 'string', default: '9100' } } })

/** Together about 50 kB. */
const SEARCH_RECORDS = 256
/** Together about 2 MB. */
const BIG_RECORDS = 10_000
const RECORDS_PER_MB = 5_000
const MAX_LARGE_MB = 10
/** Longer than any pause between two rounds, so that no connection pool has to reconnect during a measurement. */
const KEEP_ALIVE_MS = 300_000
const MAX_SLEEP_MS = 10_000

const userOf = (id: string): string =>
  `{"id":${JSON.stringify(id)},"name":"User ${encodeURIComponent(id)}","email":"user${encodeURIComponent(id)}@example.test",` +
  '"phone":"+31 20 555 0123","address":{"street":"Keizersgracht 1","city":"Amsterdam","zip":"1015 CJ","country":"NL"},' +
  '"roles":["reader","editor"],"active":true,"created":"2024-03-01T12:00:00Z","note":"fake \\"quoted\\" record"}'

const recordOf = (index: number) => ({
  id: index,
  sku: `SKU-${String(index).padStart(6, '0')}`,
  title: `Item number ${index}`,
  price: (index % 977) + 0.5,
  stock: index % 31,
  tags: ['a', 'b"c', 'déjà'],
  updated: '2026-01-01T00:00:00Z',
  desc: 'lorem ipsum dolor sit amet, consectetur adipiscing elit'.slice(0, 38 + (index % 14)),
})
const recordsOf = (count: number): string =>
  JSON.stringify(Array.from({ length: count }, (_, index) => recordOf(index)))

const SEARCH_TAIL = Buffer.from(`,"total":${SEARCH_RECORDS},"items":${recordsOf(SEARCH_RECORDS)}}`)
const BIG = Buffer.from(recordsOf(BIG_RECORDS))

const large = new Map<number, Buffer>()
/** Returns a JSON object that contains this many megabytes of records. */
const largeOf = (megabytes: number): Buffer => {
  const made = large.get(megabytes) ?? Buffer.from(`{"total":1,"items":${recordsOf(megabytes * RECORDS_PER_MB)}}`)
  large.set(megabytes, made)
  return made
}

const send = (response: ServerResponse, status: number, body: string | Buffer): void => {
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
}

const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
  const url = request.url ?? '/'
  const mark = url.indexOf('?')
  const path = mark < 0 ? url : url.slice(0, mark)
  const query = (name: string): string => (mark < 0 ? '' : (new URLSearchParams(url.slice(mark + 1)).get(name) ?? ''))

  if (path.startsWith('/users/')) send(response, 200, userOf(decodeURIComponent(path.slice('/users/'.length))))
  else if (path === '/search') {
    send(response, 200, Buffer.concat([Buffer.from(`{"q":${JSON.stringify(query('q'))}`), SEARCH_TAIL]))
  } else if (path === '/big') send(response, 200, BIG)
  else if (path === '/large') send(response, 200, largeOf(Math.min(Number(query('mb')) || 1, MAX_LARGE_MB)))
  else if (path === '/slow') {
    const sleptMs = Math.min(Number(query('ms')) || 0, MAX_SLEEP_MS)
    setTimeout(() => send(response, 200, `{"slept":${sleptMs}}`), sleptMs)
  } else send(response, 404, '{"error":"not found"}')
})
server.listen(Number(values.port), '127.0.0.1')
