import { describe, expect, it, onTestFinished } from 'vitest'
import { listKeyIdsInUse } from '../../../src/installation.ts'
import { databaseKinds } from '../../support/databases.ts'
import { startFakeApi } from '../../support/fake-api.ts'
import { runPatchbay } from '../../support/world.ts'
import { newToolkit, review } from '../reviews/reviewing.ts'
import { apply, importNew, shopOf } from './shop.ts'

const TOKEN = 'glpat-7hQ2wXz9KpLm4TtR'
const DAY = 24 * 60 * 60 * 1_000

/** Serves a description to those who send the token. */
const startGuardedSource = async () => {
  let summary = 'Health'
  const api = await startFakeApi(({ url }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://x')
    if (pathname === '/part.json') response.writeHead(404).end()
    else if (searchParams.get('private_token') !== TOKEN) response.writeHead(401).end()
    else response.writeHead(200).end(JSON.stringify(shopOf({ '/health': { operationId: 'getHealth', summary } })))
  })
  onTestFinished(api.close)
  const address = `${api.origin}/raw`
  return {
    api,
    url: `${address}?private_token=${TOKEN}&ref=main&v2`,
    shown: `${address}?private_token=***&ref=***&***`,
    change: (): void => {
      summary = 'Says whether all is well'
    },
  }
}

describe.each(databaseKinds)('the URL of a source with a token in its query on $kind', kind => {
  const patchbay = runPatchbay({ kind, hasMail: true })

  const start = async () => {
    const ada = await patchbay.person()
    const source = await startGuardedSource()
    const { toolkitId } = await importNew(ada, { url: source.url })
    return { ada, source, toolkitId, path: `/toolkits/${toolkitId}/source` }
  }
  const stored = async (): Promise<string> => {
    const { db } = patchbay
    const rows = [db.import.findMany(), db.importItem.findMany(), db.toolkitSource.findMany(), db.toolSource.findMany()]
    return JSON.stringify(await Promise.all([...rows, db.auditEntry.findMany()]))
  }

  it('is stored encrypted, and shown without its values', async () => {
    const { ada, source, toolkitId, path } = await start()
    expect((await ada.expectOk('GET', path)).body).toMatchObject({ url: source.shown })
    const imports = await ada.expectOk('GET', `/toolkits/${toolkitId}/imports`)
    expect(imports.body).toMatchObject({ items: [{ sourceUrl: source.shown }] })
    const text = await stored()
    expect(text).toContain(JSON.stringify(source.shown).slice(1, -1))
    expect(text).not.toContain(TOKEN)
  })

  it('is checked when that is due', async () => {
    const { ada, source, toolkitId, path } = await start()
    await ada.expectOk('PUT', path, { url: source.shown, checkEvery: 'day' })
    source.change()
    const checkedAt = new Date(Date.now() - DAY - 1_000)
    await patchbay.db.toolkitSource.update({ where: { toolkitId }, data: { checkedAt } })
    await patchbay.services.upkeep.run()
    expect((await ada.expectOk('GET', path)).body).toMatchObject({ found: { changed: 1 }, problem: null })
    expect(await stored()).not.toContain(TOKEN)
  })

  it.each(['shown', 'url'] as const)('is imported again, given as %s', async given => {
    const { ada, source, toolkitId } = await start()
    source.change()
    const { id } = await review(ada, toolkitId, { url: source[given] })
    expect(await apply(ada, id)).toMatchObject({ created: [], updated: [{ name: 'get_health' }] })
    expect(await stored()).not.toContain(TOKEN)
  })

  it('is replaced by one with another token', async () => {
    const { ada, source, path } = await start()
    await ada.expectOk('PUT', path, { url: source.url.replace(TOKEN, 'other'), checkEvery: null })
    expect((await ada.expectOk('GET', path)).body).toMatchObject({ url: source.shown })
    expect((await ada.expectOk('POST', `${path}/check`)).body).toMatchObject({
      problem: expect.stringContaining('responded with the status 401'),
    })
  })

  it('is not sent elsewhere, and a URL without its values is refused', async () => {
    const { ada, source, toolkitId, path } = await start()
    const url = source.shown.replace('/raw', '/elsewhere')
    const refused = { status: 400, body: { errors: [{ path: 'url', message: expect.stringContaining('***') }] } }
    expect(await ada.send('PUT', path, { url, checkEvery: null })).toMatchObject(refused)
    expect(await ada.send('POST', `/toolkits/${toolkitId}/imports`, { url })).toMatchObject(refused)
    const empty = await newToolkit(ada)
    expect(await ada.send('POST', `/toolkits/${empty}/imports`, { url: source.shown })).toMatchObject(refused)
  })

  it('keeps its master key from being removed', async () => {
    await start()
    await patchbay.db.toolkitSource.updateMany({ data: { urlKeyId: 'another' } })
    expect(await listKeyIdsInUse(patchbay.db)).toContain('another')
    await patchbay.db.toolkitSource.deleteMany()
    await patchbay.db.import.updateMany({ data: { urlKeyId: 'a third' } })
    expect(await listKeyIdsInUse(patchbay.db)).toContain('a third')
  })
})
