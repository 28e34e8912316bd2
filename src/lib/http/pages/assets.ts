import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import compress from '@fastify/compress'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { AppError } from '../../kernel/errors.ts'
import { sendProblem } from '../problem.ts'
import { compressOnce } from './compress-once.ts'

export const ASSETS_PREFIX = '/assets'

/** The only third-party script, served from its package. */
const HTMX = createRequire(import.meta.url).resolve('htmx.org/dist/htmx.min.js')
const HTMX_PATH = 'htmx/htmx.min.js'

const ONE_YEAR = 'public, max-age=31536000, immutable'
const ONE_WEEK = 'public, max-age=604800'
/** Makes browsers revalidate on each use. They get a 304 response if the file is unchanged. */
const ALWAYS_ASK = 'public, no-cache'

const versionOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 10)

/** Returns the files in a folder by their path in it, which has slashes on all systems. */
const listFiles = (directory: string): (readonly [path: string, file: string])[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .map(file => [relative(directory, file).replaceAll('\\', '/'), file])

/**
 * Returns the URLs of assets by their path in these folders, the first of which counts. URLs contain a content hash, so
 * browsers can cache files for a year, and still get new versions at once. In development they have no hash, so that
 * edits show on reload.
 */
export const listAssets = (
  directories: readonly string[],
  isDevelopment: boolean,
): Readonly<Record<string, string>> => {
  const files = new Map([...directories.toReversed().flatMap(listFiles), [HTMX_PATH, HTMX]])
  const addressOf = (path: string, file: string): string =>
    isDevelopment ? `${ASSETS_PREFIX}/${path}` : `${ASSETS_PREFIX}/${path}?v=${versionOf(file)}`
  return Object.fromEntries([...files].map(([path, file]) => [path, addressOf(path, file)]))
}

const cachingOf = (url: string): string => {
  if (url.includes('?v=')) return ONE_YEAR
  // A font file's content never changes under the same name.
  return url.startsWith(`${ASSETS_PREFIX}/fonts/`) ? ONE_WEEK : ALWAYS_ASK
}

/** A client error that @fastify/static throws instead of sending a file. */
const Refusal = z.object({ statusCode: z.int().min(400).max(499) })

/**
 * Serves the files of these folders, the first of which counts, and htmx. Register it in a separate scope at
 * ASSETS_PREFIX, since it sets the scope's 404 handler.
 */
export const serveAssets = async (app: FastifyInstance, directories: readonly string[]): Promise<void> => {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', cachingOf(request.url))
    reply.header('x-content-type-options', 'nosniff')
  })
  const refuse = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    // A later version may have a file at this URL.
    reply.header('cache-control', 'no-store')
    return sendProblem(request, reply, new AppError('not_found', 'There is no such file.'))
  }
  app.setNotFoundHandler(refuse)
  app.setErrorHandler((error, request, reply) => {
    const status = Refusal.safeParse(error).data?.statusCode
    if (status === undefined) throw error
    // A 403 error is for a directory, which we report as missing. Other errors are for ranges outside the file.
    return status === 403 ? refuse(request, reply) : reply.code(status).header('cache-control', 'no-store').send()
  })
  compressOnce(app)
  await app.register(compress, { globalDecompression: false, encodings: ['gzip'] })
  // Browsers revalidate with the entity tag.
  const options = { index: false, decorateReply: false, cacheControl: false, lastModified: false } as const
  await app.register(fastifyStatic, { ...options, root: [...directories], prefix: '/' })
  await app.register(fastifyStatic, {
    ...options,
    root: dirname(HTMX),
    prefix: `/${dirname(HTMX_PATH)}/`,
    allowedPath: path => path === `/${HTMX_PATH.split('/').at(-1)}`,
  })
}
