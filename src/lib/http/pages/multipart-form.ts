import { finished, Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../kernel/errors.ts'
import { formatBytes } from '../../kernel/format.ts'
import { createCounts } from '../../worker/fair-queue.ts'
import { actorOf } from '../access.ts'

/** A file that a form was sent with. */
export type FormFile = { field: string; name: string; bytes: Uint8Array }

/** More parts than our forms with files have. Each part takes memory, however short it is. */
const MAX_PARTS = 200

const malformed = (cause?: unknown): AppError =>
  new AppError('invalid_request', 'The form is incomplete. Send it again.', { cause })

/** Reads the body. Rejects once it is larger than `maxBytes`; the rest is discarded with the response. */
const collect = (body: Readable, maxBytes: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const add = (chunk: Buffer): void => {
      size += chunk.length
      chunks.push(chunk)
      if (size <= maxBytes) return
      body.off('data', add)
      body.pause()
      chunks.length = 0
      const message = `The form has more than ${formatBytes(maxBytes)}, because its files are too large.`
      reject(new AppError('payload_too_large', message))
    }
    body.on('data', add)
    finished(body, error => (error ? reject(malformed(error)) : resolve(Buffer.concat(chunks))))
  })

const BOUNDARY = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i

const countParts = (bytes: Buffer, contentType: string): number => {
  const [, quoted, plain] = BOUNDARY.exec(contentType) ?? []
  const boundary = quoted ?? plain
  if (boundary === undefined) throw malformed()
  const mark = Buffer.from(`--${boundary}`)
  let count = 0
  for (let at = bytes.indexOf(mark); at !== -1 && count <= MAX_PARTS; at = bytes.indexOf(mark, at + mark.length)) {
    count += 1
  }
  return count
}

/** Parses a form (RFC 7578). Leaves out the part that browsers send for a file field without a file. */
const parseParts = async (bytes: Buffer, contentType: string) => {
  if (countParts(bytes, contentType) > MAX_PARTS) {
    throw new AppError('payload_too_large', `The form has more than ${MAX_PARTS} parts.`)
  }
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } })
    .formData()
    .catch((error: unknown) => {
      throw malformed(error)
    })
  const texts: Record<string, string> = {}
  const files: FormFile[] = []
  for (const [field, value] of form) {
    if (typeof value === 'string') texts[field] = value
    else if (value.name !== '' || value.size > 0) files.push({ field, name: value.name, bytes: await value.bytes() })
  }
  return { texts, files }
}

/** Forms of the largest size that are in memory at once. While it is parsed, each takes several times its size. */
const LARGEST_AT_ONCE = 2
const RETRY_AFTER_SECONDS = 10

/** Bounds the bytes of the forms in memory, in total and of each user, who may send one of the largest size. */
const createFormRoom = (maxBytes: number) => {
  const ofUser = createCounts()
  let all = 0
  const add = (userId: string, bytes: number): void => {
    all += bytes
    ofUser.add(userId, bytes)
  }
  /** Keeps room for a form until its response has ended. Throws `unavailable` if there is none. */
  return (request: FastifyRequest, reply: FastifyReply): void => {
    const { userId } = actorOf(request)
    // Node accepts only digits here.
    const bytes = Math.min(Number(request.headers['content-length'] ?? maxBytes), maxBytes)
    if (all + bytes > LARGEST_AT_ONCE * maxBytes || ofUser.of(userId) + bytes > maxBytes) {
      const options = { retryAfterSeconds: RETRY_AFTER_SECONDS }
      throw new AppError('unavailable', 'Other files are being sent. Try again in a few seconds.', options)
    }
    add(userId, bytes)
    // Its files are in memory until then. This event also comes if the client goes away.
    reply.raw.once('close', () => add(userId, -bytes))
  }
}

const filesByRequest = new WeakMap<FastifyRequest, readonly FormFile[]>()

/** Returns the files of a form. */
export const filesOf = (request: FastifyRequest): readonly FormFile[] => filesByRequest.get(request) ?? []

/**
 * Accepts forms with files in this scope. Their texts become the body, as in other forms; a repeated field has its last
 * value. Reads them once it is known that the user is signed in. Throws `unavailable` while too many are in memory.
 */
export const acceptFiles = (app: FastifyInstance, maxBytes: number): void => {
  app.addContentTypeParser('multipart/form-data', { bodyLimit: maxBytes }, (_request, payload, done) =>
    done(null, payload),
  )
  const keepRoom = createFormRoom(maxBytes)
  app.addHook('preValidation', async (request, reply) => {
    if (!(request.body instanceof Readable)) return
    keepRoom(request, reply)
    const { texts, files } = await parseParts(
      await collect(request.body, maxBytes),
      request.headers['content-type'] ?? '',
    )
    filesByRequest.set(request, files)
    request.body = texts
  })
}
