import { createSocket } from 'node:dgram'
import { isIP } from 'node:net'

/** What a name server says about one type of record: addresses, that there are none, an error, or nothing at all. */
export type FakeRecords = readonly string[] | 'nxdomain' | 'servfail' | 'silent'
/** Missing types have no records. */
export type FakeName = { a?: FakeRecords; aaaa?: FakeRecords; ttl?: number }

const TYPES: Readonly<Record<number, 'a' | 'aaaa'>> = { 1: 'a', 28: 'aaaa' }
const HEADER_BYTES = 12
const CODES = { servfail: 2, nxdomain: 3 }

/** Reads the only question of a message (RFC 1035 §4.1.2). `end` is the offset after it. */
const readQuestion = (message: Buffer) => {
  const labels: string[] = []
  let offset = HEADER_BYTES
  for (let length = message.readUInt8(offset); length > 0; length = message.readUInt8(offset)) {
    labels.push(message.toString('latin1', offset + 1, offset + 1 + length))
    offset += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: TYPES[message.readUInt16BE(offset + 1)], end: offset + 5 }
}

const addressBytes = (address: string): number[] => {
  if (isIP(address) === 4) return address.split('.').map(Number)
  const [head = '', tail] = address.split('::')
  const wordsOf = (text = ''): number[] =>
    text
      .split(':')
      .filter(Boolean)
      .map(word => Number.parseInt(word, 16))
  const [before, after] = [wordsOf(head), wordsOf(tail)]
  const zeros = new Array<number>(8 - before.length - after.length).fill(0)
  return [...before, ...zeros, ...after].flatMap(word => [word >> 8, word & 255])
}

/** A record of the name in the question, to which 0xc00c points (RFC 1035 §4.1.4). */
const recordOf = (address: string, ttl: number): Buffer => {
  const bytes = addressBytes(address)
  const head = Buffer.from([0xc0, HEADER_BYTES, 0, bytes.length === 4 ? 1 : 28, 0, 1, 0, 0, 0, 0, 0, bytes.length])
  head.writeUInt32BE(ttl, 6)
  return Buffer.concat([head, Buffer.from(bytes)])
}

const answerTo = (message: Buffer, end: number, records: Exclude<FakeRecords, 'silent'>, ttl: number): Buffer => {
  const isError = typeof records === 'string'
  const addresses = isError ? [] : records
  const head = Buffer.from(message.subarray(0, HEADER_BYTES))
  // A response to a recursive query, with one question.
  head.writeUInt16BE(0x8180 | (isError ? CODES[records] : 0), 2)
  for (const [index, count] of [1, addresses.length, 0, 0].entries()) head.writeUInt16BE(count, 4 + 2 * index)
  const answers = addresses.map(address => recordOf(address, ttl))
  return Buffer.concat([head, message.subarray(HEADER_BYTES, end), ...answers])
}

/** Starts a name server on loopback. It knows the names in `names`, which may change; no other name exists. */
export const startFakeNameServer = async (names: Record<string, FakeName>) => {
  const socket = createSocket('udp4')
  /** The questions so far, such as "a api.example". Repeated questions count again. */
  const asked: string[] = []
  socket.on('message', (message, { address, port }) => {
    const { name, type, end } = readQuestion(message)
    if (type === undefined) return
    asked.push(`${type} ${name}`)
    const known = names[name]
    const records = known === undefined ? 'nxdomain' : (known[type] ?? [])
    if (records !== 'silent') socket.send(answerTo(message, end, records, known?.ttl ?? 300), port, address)
  })
  await new Promise<void>(resolve => socket.bind(0, '127.0.0.1', resolve))
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    names,
    close: (): Promise<void> => new Promise(resolve => socket.close(() => resolve())),
  }
}
