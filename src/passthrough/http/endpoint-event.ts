import { Transform } from 'node:stream'

/** Maximum size of a first event whose address is to be replaced. */
const MAX_EVENT_BYTES = 16 * 1_024

const EVENT_END = /\r\n\r\n|\n\n|\r\r/
const ENDPOINT = /(^|[\r\n])event: ?endpoint(?=[\r\n])/
const DATA = /(^|[\r\n])(data: ?)([^\r\n]*)/

/**
 * Replaces the address to which the client posts its messages, in the first event of an HTTP+SSE stream (2024-11-05,
 * basic/transports). Passes the rest on unchanged. Ends the stream if `toOurs` returns undefined, because the address
 * is outside the upstream or contains a secret.
 */
export const replaceEndpoint = (toOurs: (address: string) => string | undefined): Transform => {
  let waiting: Buffer | undefined = Buffer.alloc(0)
  const replace = (text: string): string | undefined => {
    const data = ENDPOINT.test(text) ? DATA.exec(text) : null
    if (data === null) return text
    const ours = toOurs(data[3] ?? '')
    return ours === undefined
      ? undefined
      : text.replace(DATA, (_, before: string, name: string) => `${before}${name}${ours}`)
  }
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (waiting === undefined) {
        done(null, chunk)
        return
      }
      const bytes = Buffer.concat([waiting, chunk])
      const text = bytes.toString('latin1')
      const end = EVENT_END.exec(text)
      if (end === null && bytes.length <= MAX_EVENT_BYTES) {
        waiting = bytes
        done()
        return
      }
      waiting = undefined
      const cut = end === null ? 0 : end.index + end[0].length
      const event = replace(text.slice(0, cut))
      if (event === undefined)
        done(new Error('the MCP server sent a message address that is not its own or contains a secret'))
      else done(null, Buffer.concat([Buffer.from(event, 'latin1'), bytes.subarray(cut)]))
    },
    flush(done) {
      done(null, waiting)
    },
  })
}
