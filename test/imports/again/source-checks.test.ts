import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { databaseKinds } from '../../support/databases.ts'
import { runPatchbay } from '../../support/world.ts'
import { apply, importAgain, importNew, LIMIT, shopOf, startSource } from './shop.ts'

const CHANGED = shopOf({
  '/orders': { operationId: 'listOrders', summary: 'List orders', parameters: [{ ...LIMIT, required: true }] },
  '/health': { operationId: 'getHealth', summary: 'Health' },
})

const DAY = 24 * 60 * 60 * 1_000

describe.each(databaseKinds)('the source of a toolkit on $kind', kind => {
  const patchbay = runPatchbay({ kind, hasMail: true })

  const start = async () => {
    const ada = await patchbay.person()
    const source = await startSource(shopOf())
    onTestFinished(source.close)
    const { toolkitId, tools } = await importNew(ada, { url: source.url })
    const path = `/toolkits/${toolkitId}/source`
    return {
      ...{ ada, source, toolkitId, tools, path },
      get: async () => (await ada.expectOk('GET', path)).body,
      check: async () => (await ada.expectOk('POST', `${path}/check`)).body,
      /** Runs the chores when the next check is due. */
      runDue: async () => {
        const checkedAt = new Date(Date.now() - DAY - 1_000)
        await patchbay.db.toolkitSource.updateMany({ where: { toolkitId }, data: { checkedAt } })
        await patchbay.services.upkeep.run()
      },
    }
  }
  const confirm = (userId: string) =>
    patchbay.db.user.update({ where: { id: userId }, data: { emailVerifiedAt: new Date() } })
  const mailsTo = (email: string) =>
    patchbay.smtp.received.filter(({ to, text }) => to.includes(email) && text.includes('has changed'))

  it('is where its tools were imported from', async () => {
    const shop = await start()
    expect(await shop.get()).toEqual({
      kind: 'openapi',
      title: 'Shop',
      url: shop.source.url,
      checkEvery: null,
      checkedAt: null,
      problem: null,
      found: null,
    })
    const empty = await shop.ada.create('/toolkits', { title: 'Empty' })
    expect(await shop.ada.send('GET', `/toolkits/${empty.id}/source`)).toMatchObject({ status: 404 })
  })

  it.each([
    [{ url: 'ftp://a.example/x', checkEvery: null }, 'url'],
    [{ url: 'https://me:secret@a.example/x', checkEvery: null }, 'url'],
    [{ url: null, checkEvery: 'day' }, 'url'],
    [{ url: 'https://a.example/x', checkEvery: 'hour' }, 'checkEvery'],
  ])('cannot be %j', async (body, path) => {
    const shop = await start()
    expect(await shop.ada.send('PUT', shop.path, body)).toMatchObject({ status: 400, body: { errors: [{ path }] } })
  })

  it('is checked on request, with the ETag of the version that is known', async () => {
    const shop = await start()
    expect(await shop.check()).toMatchObject({ problem: null, found: null, checkedAt: expect.any(String) })
    expect(shop.source.counts).toEqual({ sent: 1, unchanged: 1 })
    shop.source.put(CHANGED)
    expect(await shop.check()).toMatchObject({ problem: null, found: { changed: 2, breaking: 1 } })
    expect(await shop.check()).toMatchObject({ found: { changed: 2, breaking: 1 } })
    expect(shop.source.counts).toEqual({ sent: 2, unchanged: 2 })
    shop.source.put(shopOf())
    expect(await shop.check()).toMatchObject({ found: null })
  })

  it('counts a tool without its operation until it is kept in a re-import', async () => {
    const shop = await start()
    const without = (summary: string) =>
      shopOf({ '/health': undefined, '/orders': { operationId: 'listOrders', summary, parameters: [LIMIT] } })
    shop.source.put(without('All orders'))
    expect(await shop.check()).toMatchObject({ found: { changed: 2, breaking: 1 } })
    const again = await importAgain(shop.ada, shop.toolkitId, { url: shop.source.url })
    await apply(shop.ada, again.id)
    expect(await shop.check()).toMatchObject({ found: null })
    shop.source.put(without('Every order'))
    expect(await shop.check()).toMatchObject({ found: { changed: 1, breaking: 0 } })
    shop.source.put(shopOf({ '/health': undefined, '/orders': undefined }))
    expect(await shop.check()).toMatchObject({ found: { changed: 1, breaking: 1 } })
  })

  it('changes no tool by itself, and is up to date once it is imported again', async () => {
    const shop = await start()
    shop.source.put(CHANGED)
    await shop.check()
    const { body } = await shop.ada.expectOk('GET', `/tools/${shop.tools.get_health}`)
    expect(body).toMatchObject({ title: 'Get the health' })
    const { id, changes } = await importAgain(shop.ada, shop.toolkitId, { url: shop.source.url })
    expect(changes).toHaveLength(2)
    await apply(shop.ada, id)
    expect(await shop.get()).toMatchObject({ found: null })
    expect(await shop.check()).toMatchObject({ found: null })
    expect(shop.source.counts).toEqual({ sent: 3, unchanged: 1 })
  })

  it('shows why it could not be checked, and what was found before', async () => {
    const shop = await start()
    shop.source.put(CHANGED)
    await shop.check()
    shop.source.fail(503)
    expect(await shop.check()).toMatchObject({
      problem: expect.stringContaining('503'),
      found: { changed: 2 },
      checkedAt: expect.any(String),
    })
    shop.source.fail(200)
    expect(await shop.check()).toMatchObject({ problem: null, found: { changed: 2 } })
    shop.source.put('<html>')
    expect(await shop.check()).toMatchObject({ problem: expect.any(String), found: { changed: 2 } })
    await shop.ada.expectOk('PUT', shop.path, { url: 'http://169.254.169.254/openapi.json', checkEvery: null })
    expect(await shop.check()).toMatchObject({ problem: expect.stringContaining('169.254.169.254') })
  })

  it('is checked when that is due, and builders get one email for each change', async () => {
    const shop = await start()
    const { organizationId, email, userId } = shop.ada
    const [builder, viewer] = [
      await patchbay.member(organizationId, 'builder'),
      await patchbay.member(organizationId, 'viewer'),
    ]
    for (const id of [userId, builder.userId, viewer.userId]) await confirm(id)
    const unconfirmed = await patchbay.member(organizationId, 'admin')
    await shop.ada.expectOk('PUT', shop.path, { url: shop.source.url, checkEvery: 'day' })
    shop.source.put(CHANGED)
    await shop.runDue()
    await vi.waitFor(() => expect(mailsTo(builder.email)).toHaveLength(1))
    expect(mailsTo(email)).toHaveLength(1)
    expect(mailsTo(email)[0]).toMatchObject({
      headers: expect.stringContaining('2 changed, 1 breaking'),
      text: expect.stringContaining(`${patchbay.baseUrl}/toolkits/${shop.toolkitId}`),
    })
    expect([...mailsTo(viewer.email), ...mailsTo(unconfirmed.email)]).toEqual([])

    const reworded = { ...CHANGED, info: { title: 'Shop', version: '2' } }
    shop.source.put(reworded)
    await shop.runDue()
    shop.source.put(shopOf({ '/health': undefined }))
    await shop.runDue()
    await vi.waitFor(() => expect(mailsTo(builder.email)).toHaveLength(2))
    expect(mailsTo(builder.email)[1]?.headers).toContain('1 changed, 1 breaking')
  })

  it('is not checked before that is due, or without an interval', async () => {
    const shop = await start()
    await shop.runDue()
    expect(shop.source.counts).toEqual({ sent: 1, unchanged: 0 })
    await shop.ada.expectOk('PUT', shop.path, { url: shop.source.url, checkEvery: 'week' })
    await shop.runDue()
    expect(shop.source.counts).toEqual({ sent: 1, unchanged: 0 })
  })

  it('is checked once by several processes', async () => {
    const shop = await start()
    await shop.ada.expectOk('PUT', shop.path, { url: shop.source.url, checkEvery: 'day' })
    const other = await patchbay.another()
    try {
      await Promise.all([patchbay.services.upkeep.run(), other.services.upkeep.run()])
      await Promise.all([patchbay.services.upkeep.run(), other.services.upkeep.run()])
      expect(shop.source.counts).toEqual({ sent: 1, unchanged: 1 })
    } finally {
      await other.close()
    }
  })

  it('is forgotten without its tools', async () => {
    const shop = await start()
    await shop.ada.expectOk('DELETE', shop.path)
    expect(await shop.ada.send('GET', shop.path)).toMatchObject({ status: 404 })
    expect(await shop.ada.send('POST', `${shop.path}/check`)).toMatchObject({ status: 404 })
    const { changes } = await importAgain(shop.ada, shop.toolkitId, { text: JSON.stringify(CHANGED) })
    expect(changes).toHaveLength(2)
  })
})
