import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
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

/**
 * Returns the URLs of assets by their path in `public/`. URLs contain a content hash, so browsers can cache files for a
 * year, and still get new versions at once. In development they have no hash, so that edits show on reload.
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

const IMPORT = /^import .* from '\.\/([\w-]+)\.js'$/gm

/**
 * Returns the URLs of the modules that each script in `public/js` imports, directly or through others, by its name.
 * Browsers that do not get these URLs with the page learn of one level of imports after the other.
 */
export const listImports = (publicDirectory: string): Readonly<Record<string, readonly string[]>> => {
  const folder = join(publicDirectory, 'js')
  const scripts = readdirSync(folder).map(file => basename(file, '.js'))
  const direct = new Map(
    scripts.map(name => {
      const text = readFileSync(join(folder, `${name}.js`), 'utf8')
      return [name, [...text.matchAll(IMPORT)].flatMap(([, imported]) => imported ?? [])]
    }),
  )
  const importsOf = (name: string): string[] => {
    const found = new Set(direct.get(name))
    // Grows while it is iterated.
    for (const one of found) for (const next of direct.get(one) ?? []) found.add(next)
    return [...found].map(one => `${ASSETS_PREFIX}/js/${one}.js`)
  }
  return Object.fromEntries(scripts.map(name => [name, importsOf(name)]))
}

const cachingOf = (url: string): string => {
  if (url.includes('?v=')) return ONE_YEAR
  // A font file's content never changes under the same name.
  return url.startsWith(`${ASSETS_PREFIX}/fonts/`) ? ONE_WEEK : ALWAYS_ASK
}

/** A client error that @fastify/static throws instead of sending a file. */
const Refusal = z.object({ statusCode: z.int().min(400).max(499) })

/**
 * Serves `public/` and htmx. Register it in a separate scope at ASSETS_PREFIX, since it sets the scope's 404 handler.
 */
export const serveAssets = async (app: FastifyInstance, publicDirectory: string): Promise<void> => {
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
  await app.register(fastifyStatic, { ...options, root: publicDirectory, prefix: '/' })
  await app.register(fastifyStatic, {
    ...options,
    root: dirname(HTMX),
    prefix: `/${dirname(HTMX_PATH)}/`,
    allowedPath: path => path === `/${HTMX_PATH.split('/').at(-1)}`,
  })
}
