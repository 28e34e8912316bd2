import { describe, expect, it } from 'vitest'
import { signUp } from '../support/api-client.ts'
import { signInToPages } from '../support/signed-in.ts'
import { runPatchbay, runUser } from '../support/world.ts'

describe('globals of a server', () => {
  const patchbay = runPatchbay()
  const ada = runUser(patchbay)
  const makeGlobals = async () => {
    const server = await ada.create('/servers', { name: 'Globals' })
    const put = (key: string, body: object) => ada.send('PUT', `/servers/${server.id}/globals/${key}`, body)
    return { server, put }
  }

  it('are limited to 200: one more is rejected with the limit, and existing ones can still be replaced', async () => {
    const { server, put } = await makeGlobals()
    const rows = Array.from({ length: 199 }, (_, at) => ({ serverId: server.id, key: `g${at}`, value: 'v' }))
    await patchbay.services.db.global.createMany({ data: rows.map(row => ({ ...row, isSecret: false })) })
    expect((await put('last', { value: 'v', secret: true })).status).toBe(201)
    expect(await put('more', { value: 'v' })).toMatchObject({
      status: 422,
      body: { detail: expect.stringContaining('200') },
    })
    expect((await put('last', { value: 'w' })).status).toBe(200)
    await ada.expectOk('DELETE', `/servers/${server.id}/globals/last`)
    expect((await put('more', { value: 'v' })).status).toBe(201)
  })

  it.each([
    ['a secret', true, 8_192],
    ['a plain value', false, 16_384],
  ])('take %s (secret: %s) of %d bytes, counted as UTF-8, and no longer one', async (_what, secret, maxBytes) => {
    const { put } = await makeGlobals()
    expect((await put('key', { value: 'é'.repeat(maxBytes / 2), secret })).status).toBe(201)
    expect(await put('key', { value: `${'é'.repeat(maxBytes / 2)}x`, secret })).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'value', message: expect.stringContaining(`${maxBytes} bytes`) }] },
    })
  })

  it('are limited to 64 KiB of secrets in total: more is rejected with the limit, and nothing of it is stored', async () => {
    const { server, put } = await makeGlobals()
    const value = 'k'.repeat(8_000)
    for (let at = 0; at < 8; at++) expect((await put(`key${at}`, { value, secret: true })).status).toBe(201)
    expect(await put('more', { value, secret: true })).toMatchObject({
      status: 422,
      body: { detail: expect.stringContaining('65536 bytes') },
    })
    expect((await put('more', { value })).status).toBe(201)
    expect((await put('more', { value, secret: true })).status).toBe(422)
    expect((await put('key0', { value: 'shorter' })).status).toBe(200)
    expect((await put('more', { value, secret: true })).status).toBe(200)
    expect((await ada.send('GET', `/servers/${server.id}/globals`)).body).toMatchObject({ items: { length: 9 } })
  })

  it('that exceeded the limit before it existed can be replaced by shorter values only', async () => {
    const { server, put } = await makeGlobals()
    expect((await put('key', { value: 'k'.repeat(100), secret: true })).status).toBe(201)
    const { value, keyId } = await patchbay.services.db.global.findFirstOrThrow({ where: { serverId: server.id } })
    const rows = Array.from({ length: 600 }, (_, at) => ({ serverId: server.id, key: `old${at}`, value, keyId }))
    await patchbay.services.db.global.createMany({ data: rows.map(row => ({ ...row, isSecret: true })) })
    expect((await put('key', { value: 'n'.repeat(100) })).status).toBe(200)
    expect((await put('key', { value: 'n'.repeat(101) })).status).toBe(422)
  })

  it('of another organization’s server are not found, whatever their keys', async () => {
    const { id } = await ada.create('/servers', { name: 'Own' })
    const eve = await signUp(patchbay.origin)
    for (const key of ['valid', 'not%20valid']) {
      expect((await eve.send('PUT', `/servers/${id}/globals/${key}`, { value: 'v' })).status).toBe(404)
    }
    expect((await ada.send('PUT', `/servers/${id}/globals/not%20valid`, { value: 'v' })).status).toBe(400)
  })

  it('cannot become a secret if their value is too long for a secret', async () => {
    const { put } = await makeGlobals()
    expect((await put('key', { value: 'k', secret: true })).status).toBe(201)
    expect((await put('key', { value: 'x'.repeat(8_193) })).status).toBe(400)
  })

  it('that are to become secrets are not shown again when the page rejects the value', async () => {
    const { server, put } = await makeGlobals()
    expect((await put('key', { value: 'k' })).status).toBe(201)
    const person = await signInToPages(patchbay.origin, ada.email)
    const path = `/servers/${server.id}/globals/key`
    await person.get(path)
    const rejected = await person.submit(path, { value: 's3cret'.repeat(2_000), secret: 'on' })
    expect(rejected.status).toBe(400)
    expect(rejected.html).not.toContain('s3cret')
  })
})
