import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
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
  await app.register(scope => serveAssets(scope, [folder]), { prefix: '/assets' })
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

it('a file is compressed once, however its path is spelled', async () => {
  const { folder, get } = await serve()
  const file = join(folder, 'a.css')
  const changedAt = new Date('2026-11-22T09:30:00Z')
  utimesSync(file, changedAt, changedAt)
  await get('br')
  // The same size and time mean the same version, so that text which was compressed again would be the new one.
  writeFileSync(file, STYLE.replaceAll('red', 'tan'))
  utimesSync(file, changedAt, changedAt)
  for (const path of ['/assets/%61.css', '/assets/a%2ecss?v=1', '/assets/./a.css']) {
    expect(brotliDecompressSync((await get('br', path)).rawPayload).toString()).toBe(STYLE)
  }
})

it('a file that disappears while it is sent from memory ends no process', async () => {
  const { folder, get } = await serve()
  const file = join(folder, 'a.css')
  const changedAt = new Date('2026-11-22T09:30:00Z')
  // The file is opened while the response is sent, so that it is not always missing by then.
  for (let time = 0; time < 300; time++) {
    writeFileSync(file, STYLE)
    utimesSync(file, changedAt, changedAt)
    const sent = get('br')
    expect(brotliDecompressSync((await sent).rawPayload).toString()).toBe(STYLE)
    rmSync(file)
  }
  expect((await get('br')).statusCode).toBe(404)
})
