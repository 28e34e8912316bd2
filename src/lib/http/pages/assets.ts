import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import compress from '@fastify/compress'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { AppError } from '../../kernel/errors.ts'
import { sendProblem } from '../problem.ts'

export const ASSETS_PREFIX = '/assets'

/** The one script that is not ours, served from its own package. */
const HTMX = createRequire(import.meta.url).resolve('htmx.org/dist/htmx.min.js')
const HTMX_PATH = 'htmx/htmx.min.js'

const ONE_YEAR = 'public, max-age=31536000, immutable'
const ONE_WEEK = 'public, max-age=604800'
/** Asked for anew each time; answered with 304 where nothing changed. */
const ALWAYS_ASK = 'public, no-cache'

const versionOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 10)

/**
 * The address of each file that pages load, by its path in `public/`. It names the content, so that browsers keep it for
 * good and still see an upgrade at once; in development it does not, and an edit shows with the next page.
 */
export const listAssets = (publicDirectory: string, isDevelopment: boolean): Readonly<Record<string, string>> => {
  const own = readdirSync(publicDirectory, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .map(file => [file.slice(publicDirectory.length).replaceAll('\\', '/').replace(/^\//, ''), file] as const)
  const addressOf = (path: string, file: string): string =>
    isDevelopment ? `${ASSETS_PREFIX}/${path}` : `${ASSETS_PREFIX}/${path}?v=${versionOf(file)}`
  return Object.fromEntries([...own, [HTMX_PATH, HTMX] as const].map(([path, file]) => [path, addressOf(path, file)]))
}

const cachingOf = (url: string): string => {
  if (url.includes('?v=')) return ONE_YEAR
  // Fonts never change under their names.
  return url.startsWith(`${ASSETS_PREFIX}/fonts/`) ? ONE_WEEK : ALWAYS_ASK
}

/** What the server of files answers in place of a file. */
const Refusal = z.object({ statusCode: z.int().min(400).max(499) })

/** Serves the folder `public/`, and htmx. For a scope of its own under ASSETS_PREFIX: it says itself what is not there. */
export const serveAssets = async (app: FastifyInstance, publicDirectory: string): Promise<void> => {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', cachingOf(request.url))
    reply.header('x-content-type-options', 'nosniff')
  })
  const refuse = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    // It may be there with the next version, under this very address.
    reply.header('cache-control', 'no-store')
    return sendProblem(request, reply, new AppError('not_found', 'There is no such file.'))
  }
  app.setNotFoundHandler(refuse)
  app.setErrorHandler((error, request, reply) => {
    const status = Refusal.safeParse(error).data?.statusCode
    if (status === undefined) throw error
    // Folders are forbidden, which is nobody's business; what is left is a range that the file does not have.
    return status === 403 ? refuse(request, reply) : reply.code(status).header('cache-control', 'no-store').send()
  })
  await app.register(compress, { globalDecompression: false, encodings: ['gzip'] })
  const options = { index: false, decorateReply: false, cacheControl: false } as const
  await app.register(fastifyStatic, { ...options, root: publicDirectory, prefix: '/' })
  await app.register(fastifyStatic, {
    ...options,
    root: dirname(HTMX),
    prefix: `/${dirname(HTMX_PATH)}/`,
    allowedPath: path => path === `/${HTMX_PATH.split('/').at(-1)}`,
  })
}
