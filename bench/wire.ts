/**
 * A minimal HTTP/1.1 client on raw sockets. It supports one request at a time on a persistent connection, and event
 * streams. Node's own client would use more CPU than the servers being measured.
 */
import { connect, type Socket } from 'node:net'

export type HttpResponse = {
  status: number
  /** Status line and headers, without the empty line. */
  head: string
  body: Buffer[]
  bytes: number
}
export type Connection = { request: (bytes: Uint8Array) => Promise<HttpResponse>; close: () => void }
export type EventStream = { status: number; head: string; isOpen: () => boolean; close: () => void }

const HEAD_END = '\r\n\r\n'
const LAST_CHUNK = Buffer.from('0\r\n\r\n')

export const headerOf = (head: string, name: string): string | undefined =>
  new RegExp(`\r\n${name}: *([^\r]*)`, 'i').exec(head)?.[1]
export const textOf = (response: HttpResponse): string => Buffer.concat(response.body).toString()

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

/** Creates a parser for one response. The parser returns undefined until the response is complete. */
const createReader = () => {
  let pending: Buffer | undefined
  let response: HttpResponse | undefined
  let length = 0
  const isWhole = (whole: HttpResponse): boolean => {
    if (length >= 0) return whole.bytes >= length
    const last = whole.body.at(-1)
    const tail = last === undefined || last.length >= LAST_CHUNK.length ? last : Buffer.concat(whole.body.slice(-4))
    if (tail === undefined || !tail.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)) return false
    whole.body = [decodeChunks(Buffer.concat(whole.body))]
    whole.bytes = whole.body[0]?.length ?? 0
    return true
  }
  return (data: Buffer): HttpResponse | undefined => {
    let chunk = data
    if (response === undefined) {
      const bytes = pending === undefined ? chunk : Buffer.concat([pending, chunk])
      const end = bytes.indexOf(HEAD_END)
      pending = bytes
      if (end < 0) return undefined
      const head = bytes.toString('latin1', 0, end)
      response = { status: Number(head.slice(9, 12)), head, body: [], bytes: 0 }
      const stated = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
      const isChunked = stated === undefined && /\r\ntransfer-encoding: *chunked/i.test(head)
      length = isChunked ? -1 : Number(stated ?? 0)
      chunk = bytes.subarray(end + HEAD_END.length)
    }
    if (chunk.length > 0) response.body.push(chunk)
    response.bytes += chunk.length
    return isWhole(response) ? response : undefined
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

/** Rejects if nothing is listening. A request rejects if the connection closes before the response is complete. */
export const openConnection = async (port: number): Promise<Connection> => {
  const socket = await openSocket(port)
  let read = createReader()
  let waiting: { resolve: (response: HttpResponse) => void; reject: (error: Error) => void } | undefined
  let ended: Error | undefined
  const end = (error: Error) => {
    ended ??= error
    waiting?.reject(ended)
    waiting = undefined
  }
  socket.on('data', (data: Buffer) => {
    const response = read(data)
    if (response === undefined) return
    const { resolve } = waiting ?? {}
    waiting = undefined
    resolve?.(response)
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

/** Sends one request and passes each chunk of the response body to `onText`, including the chunked encoding. */
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
