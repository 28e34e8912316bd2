/**
 * HTTP/1.1 over raw sockets, as little of it as a load generator needs: one request at a time on a connection that
 * is kept, and long event streams. Node's own client would cost more than the servers that are measured.
 */
import { connect, type Socket } from 'node:net'

export type Answer = {
  status: number
  /** The status line and the headers, without the empty line. */
  head: string
  body: Buffer[]
  bytes: number
}
export type Connection = { request: (bytes: Uint8Array) => Promise<Answer>; close: () => void }
export type EventStream = { status: number; head: string; isOpen: () => boolean; close: () => void }

const HEAD_END = '\r\n\r\n'
const LAST_CHUNK = Buffer.from('0\r\n\r\n')

export const headerOf = (head: string, name: string): string | undefined =>
  new RegExp(`\r\n${name}: *([^\r]*)`, 'i').exec(head)?.[1]
export const textOf = (answer: Answer): string => Buffer.concat(answer.body).toString()

const decodeChunks = (bytes: Buffer): Buffer => {
  const chunks: Buffer[] = []
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at)
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    if (lineEnd < 0 || !(size > 0)) return Buffer.concat(chunks)
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = lineEnd + 2 + size + 2
  }
}

/** Takes the bytes of one answer; tells when it is whole. */
const createReader = () => {
  let pending: Buffer | undefined
  let answer: Answer | undefined
  let length = 0
  const isWhole = (whole: Answer): boolean => {
    if (length >= 0) return whole.bytes >= length
    const last = whole.body.at(-1)
    const tail = last === undefined || last.length >= LAST_CHUNK.length ? last : Buffer.concat(whole.body.slice(-4))
    if (tail === undefined || !tail.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)) return false
    whole.body = [decodeChunks(Buffer.concat(whole.body))]
    whole.bytes = whole.body[0]?.length ?? 0
    return true
  }
  return (data: Buffer): Answer | undefined => {
    let chunk = data
    if (answer === undefined) {
      const bytes = pending === undefined ? chunk : Buffer.concat([pending, chunk])
      const end = bytes.indexOf(HEAD_END)
      pending = bytes
      if (end < 0) return undefined
      const head = bytes.toString('latin1', 0, end)
      answer = { status: Number(head.slice(9, 12)), head, body: [], bytes: 0 }
      const stated = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
      const isChunked = stated === undefined && /\r\ntransfer-encoding: *chunked/i.test(head)
      length = isChunked ? -1 : Number(stated ?? 0)
      chunk = bytes.subarray(end + HEAD_END.length)
    }
    if (chunk.length > 0) answer.body.push(chunk)
    answer.bytes += chunk.length
    return isWhole(answer) ? answer : undefined
  }
}

const openSocket = (port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      resolve(socket)
    })
  })

/** Rejects when nobody listens; a request rejects when the connection ends before its answer is whole. */
export const openConnection = async (port: number): Promise<Connection> => {
  const socket = await openSocket(port)
  let read = createReader()
  let waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined
  let ended: Error | undefined
  const end = (error: Error) => {
    ended ??= error
    waiting?.reject(ended)
    waiting = undefined
  }
  socket.on('data', (data: Buffer) => {
    const answer = read(data)
    if (answer === undefined) return
    const { resolve } = waiting ?? {}
    waiting = undefined
    resolve?.(answer)
  })
  socket.on('error', end)
  socket.on('close', () => end(new Error('connection closed')))
  return {
    request: bytes =>
      new Promise((resolve, reject) => {
        if (ended !== undefined) return reject(ended)
        read = createReader()
        waiting = { resolve, reject }
        socket.write(bytes)
      }),
    close: () => socket.destroy(),
  }
}

/** Sends one request and hands on every piece of the answer's body, framing included, as it comes. */
export const openEventStream = async (
  port: number,
  request: Uint8Array,
  onText: (text: string) => void,
): Promise<EventStream> => {
  const socket = await openSocket(port)
  let isOpen = true
  socket.on('close', () => {
    isOpen = false
  })
  socket.write(request)
  const head = await new Promise<string>((resolve, reject) => {
    let seen: string | undefined = ''
    socket.on('error', reject)
    socket.once('close', () => reject(new Error('connection closed')))
    socket.on('data', (data: Buffer) => {
      if (seen === undefined) return onText(data.toString('latin1'))
      seen += data.toString('latin1')
      const end = seen.indexOf(HEAD_END)
      if (end < 0) return
      const rest = seen.slice(end + HEAD_END.length)
      resolve(seen.slice(0, end))
      seen = undefined
      if (rest !== '') onText(rest)
    })
  })
  return { status: Number(head.slice(9, 12)), head, isOpen: () => isOpen, close: () => socket.destroy() }
}
