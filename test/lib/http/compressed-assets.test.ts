import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import fastify from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { serveAssets } from '../../../src/lib/http/pages/assets.ts'

const STYLE = 'p { color: red }\n'.repeat(500)

const serve = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-assets-'))
  writeFileSync(join(folder, 'a.css'), STYLE)
  const app = fastify()
  onTestFinished(async () => {
    await app.close()
    rmSync(folder, { recursive: true })
  })
  await app.register(scope => serveAssets(scope, folder), { prefix: '/assets' })
  const get = (encodings: string, path = '/assets/a.css') =>
    app.inject({ url: path, headers: { 'accept-encoding': encodings } })
  return { folder, get }
}

it('a file is sent in Brotli to browsers, the second time too, and otherwise as the client accepts it', async () => {
  const { get } = await serve()
  for (const _time of ['first', 'second']) {
    const { headers, rawPayload } = await get('gzip, deflate, br, zstd')
    expect(headers).toMatchObject({
      'content-encoding': 'br',
      'content-length': String(rawPayload.length),
      vary: 'accept-encoding',
    })
    expect(brotliDecompressSync(rawPayload).toString()).toBe(STYLE)
  }
  const zipped = await get('gzip')
  expect(zipped.headers['content-encoding']).toBe('gzip')
  expect(gunzipSync(zipped.rawPayload).toString()).toBe(STYLE)
  const refused = await get('br;q=0')
  expect([refused.headers['content-encoding'], refused.body]).toEqual([undefined, STYLE])
})

it('a changed file is compressed again, and a missing one is reported', async () => {
  const { folder, get } = await serve()
  await get('br')
  writeFileSync(join(folder, 'a.css'), 'p { color: green }')
  expect(brotliDecompressSync((await get('br')).rawPayload).toString()).toBe('p { color: green }')
  expect((await get('br', '/assets/b.css')).statusCode).toBe(404)
})
