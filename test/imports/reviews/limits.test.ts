import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { formatNumber } from '../../../src/lib/kernel/format.ts'
import type { JsonObject } from '../../../src/lib/kernel/json.ts'
import { createApiClient, WithId } from '../../support/api-client.ts'
import { isRest } from '../../support/cases-of-run.ts'
import { databasesOfRun } from '../../support/databases.ts'
import { runFakeApi, runPatchbay } from '../../support/world.ts'
import { descriptionOf } from '../reading.ts'
import { finished, getReview, newToolkit, pageOfItems, review, reviewFiles } from './reviewing.ts'

/** Reading 10,000 operations takes 10 s on a machine that does nothing else. */
vi.setConfig({ testTimeout: 180_000 })

const MANY = isRest ? 10_000 : 1_000
const HOUR_MS = 60 * 60_000
const ONE = JSON.stringify(descriptionOf({ paths: { '/a': { get: { responses: {} } } } }))

const pathsOf = (count: number, parts: JsonObject = {}): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`/p${at}`, { get: { responses: {}, ...parts } }]))

describe.each(databasesOfRun)('imports on $kind', kind => {
  const patchbay = runPatchbay({ kind, isOwn: true })

  it(`of ${formatNumber(MANY)} operations select none by themselves`, async () => {
    const ada = await patchbay.person()
    const paths = pathsOf(MANY, { tags: ['all'] })
    const text = JSON.stringify(descriptionOf({ paths }))
    const made = await review(ada, await newToolkit(ada), { text })
    expect(made).toMatchObject({
      state: 'ready',
      totals: { tools: MANY, selected: 0 },
      summary: { tags: [{ name: 'all', operations: MANY }] },
    })
    const changed = await ada.expectOk('PATCH', `/imports/${made.id}`, { select: { filter: { q: '/p1' } } })
    expect(changed.body).toMatchObject({ totals: { selected: MANY === 1_000 ? 111 : 1_111 } })
  })

  it('of 20 MB are read from files', async () => {
    const ada = await patchbay.person()
    const paths = pathsOf(500, { description: 'It is long. '.repeat(3_400) })
    const made = await reviewFiles(ada, await newToolkit(ada), [
      ['openapi.json', JSON.stringify(descriptionOf({ paths }))],
    ])
    expect(made).toMatchObject({ state: 'ready', totals: { tools: 500 } })
  })

  it('keep the files of a source only as long as it may be read again', async () => {
    const ada = await patchbay.person()
    const toolkitId = await newToolkit(ada)
    const signed = descriptionOf({
      security: [{ key: [] }],
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
      paths: { '/a': { get: { responses: {} } } },
    })
    const read = await review(ada, toolkitId, { text: JSON.stringify(signed) })
    const failed = await review(ada, toolkitId, { text: '<html></html>' })
    const again = await review(ada, toolkitId, { text: ONE })
    const kept = () =>
      [read, failed, again].flatMap(({ id }) =>
        existsSync(join(patchbay.settings.dataDirectory, 'imports', id)) ? [id] : [],
      )
    await expect.poll(kept).toEqual([again.id])
    await ada.expectOk('DELETE', `/imports/${again.id}`)
    await expect.poll(kept).toEqual([])
  })

  it('fail if the process that reads them has ended', async () => {
    const ada = await patchbay.person()
    const { id } = await review(ada, await newToolkit(ada), { text: ONE })
    const updatedAt = new Date(Date.now() - HOUR_MS)
    await patchbay.db.import.update({ where: { id }, data: { state: 'reading', updatedAt } })
    // The reader of this process may still be about to finish.
    await expect
      .poll(() => getReview(ada, id))
      .toMatchObject({
        state: 'failed',
        problem: expect.stringContaining('Start the import again.'),
        totals: { tools: 0 },
      })
  })

  it('are deleted after a day unless they have been applied', async () => {
    const ada = await patchbay.person()
    const toolkitId = await newToolkit(ada)
    const old = await review(ada, toolkitId, { text: ONE })
    const applied = await review(ada, toolkitId, { text: ONE })
    await ada.expectOk('POST', `/imports/${applied.id}/apply`)
    const createdAt = new Date(Date.now() - 25 * HOUR_MS)
    await patchbay.db.import.updateMany({ where: { id: { in: [old.id, applied.id] } }, data: { createdAt } })
    const recent = await review(ada, toolkitId, { text: ONE })
    await patchbay.services.upkeep.run()
    const left = await patchbay.db.import.findMany({ where: { toolkitId }, select: { id: true } })
    expect(left).toEqual([{ id: applied.id }, { id: recent.id }])
    expect(await patchbay.db.importItem.count({ where: { importId: applied.id } })).toBe(0)
  })

  it('are at most ten per organization that are not applied', async () => {
    const ada = await patchbay.person()
    const toolkitId = await newToolkit(ada)
    const { id } = await review(ada, toolkitId, { text: ONE })
    const { toolkitUpdatedAt } = await patchbay.db.import.findUniqueOrThrow({ where: { id } })
    await patchbay.db.import.createMany({
      data: Array.from({ length: 9 }, () => ({
        ...{ toolkitId, createdById: ada.userId, kind: 'curl' as const, state: 'ready' as const },
        ...{ settings: {}, needs: [], toolkitUpdatedAt },
      })),
    })
    const start = () => ada.send('POST', `/toolkits/${toolkitId}/imports`, { text: ONE })
    const other = await newToolkit(ada)
    const refused = await ada.send('POST', `/toolkits/${other}/imports`, { text: ONE })
    expect(refused).toMatchObject({ status: 422, body: { detail: expect.stringContaining('“Imported” (10)') } })
    const open = (path: string, init: RequestInit = {}) =>
      fetch(`${patchbay.origin}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${ada.token}`, accept: 'text/html' },
      })
    const form = new FormData()
    form.append('text', ONE)
    const page = await (await open(`/toolkits/${other}/imports`, { method: 'POST', body: form })).text()
    expect(page).toContain(`<a href="/toolkits/${toolkitId}/imports"><bdi>Imported</bdi></a>`)
    expect(await (await open(`/toolkits/${toolkitId}`)).text()).toContain(`/toolkits/${toolkitId}/imports/${id}`)
    await ada.expectOk('DELETE', `/imports/${id}`)
    expect(await start()).toMatchObject({ status: 202 })
  })
})

describe('an organization whose sources are slow', () => {
  const patchbay = runPatchbay({ isOwn: true })
  const slow = runFakeApi(() => undefined)

  it('has at most three of them read at once, and holds up nobody else', async () => {
    const ada = await patchbay.person()
    const bob = await patchbay.person()
    const toolkitId = await newToolkit(ada)
    const start = () => ada.send('POST', `/toolkits/${toolkitId}/imports`, { url: `${slow.origin}/openapi.json` })
    const started = [await start(), await start(), await start()]
    expect(started.map(({ status }) => status)).toEqual([202, 202, 202])
    const refused = await start()
    expect(refused).toMatchObject({ status: 503 })
    expect(refused.headers.get('retry-after')).toBe('60')
    expect(await review(bob, await newToolkit(bob), { text: ONE })).toMatchObject({ state: 'ready' })
    for (const { body } of started) await ada.expectOk('DELETE', `/imports/${WithId.parse(body).id}`)
    expect(await review(ada, toolkitId, { text: ONE })).toMatchObject({ state: 'ready' })
  })

  it('changes nothing in an import that cannot be read again at the moment', async () => {
    const ada = await patchbay.person()
    const toolkitId = await newToolkit(ada)
    const { id } = await review(ada, toolkitId, { text: ONE })
    const url = `${slow.origin}/openapi.json`
    for (let at = 0; at < 3; at++) await ada.expectOk('POST', `/toolkits/${toolkitId}/imports`, { url })
    const change = { settings: { auth: 'bearer' }, deselect: { keys: ['GET /a'] } }
    expect(await ada.send('PATCH', `/imports/${id}`, change)).toMatchObject({ status: 503 })
    expect(await getReview(ada, id)).toMatchObject({
      state: 'ready',
      settings: { auth: null },
      totals: { selected: 1 },
    })
  })
})

describe('somebody with many organizations whose sources are slow', () => {
  const patchbay = runPatchbay({ isOwn: true })
  const slow = runFakeApi(() => undefined)

  it('has at most six of them read at once, and holds up nobody else', async () => {
    const ada = await patchbay.person()
    const bob = await patchbay.person()
    const statuses: number[] = []
    for (const name of ['One', 'Two', 'Three']) {
      const { id } = await ada.create('/organizations', { name })
      const toolkitId = await newToolkit(ada, id)
      const start = () => ada.send('POST', `/toolkits/${toolkitId}/imports`, { url: `${slow.origin}/openapi.json` })
      for (let at = 0; at < 3; at++) statuses.push((await start()).status)
    }
    expect(statuses).toEqual([202, 202, 202, 202, 202, 202, 503, 503, 503])
    expect(await review(bob, await newToolkit(bob), { text: ONE })).toMatchObject({ state: 'ready' })
  })
})

describe('an organization that starts many imports at the same time', () => {
  const patchbay = runPatchbay({ isOwn: true })
  const slow = runFakeApi(() => undefined)

  it('has at most three of them read', async () => {
    const ada = await patchbay.person()
    const toolkitId = await newToolkit(ada)
    const source = { url: `${slow.origin}/openapi.json` }
    const start = () => ada.send('POST', `/toolkits/${toolkitId}/imports`, source)
    const statuses = (await Promise.all(Array.from({ length: 8 }, start))).map(({ status }) => status)
    expect(statuses.filter(status => status === 202)).toHaveLength(3)
    expect(statuses.filter(status => status === 503)).toHaveLength(5)
    // The third waits, so that few documents are in memory at once, and lets others go first.
    await vi.waitFor(() => expect(slow.seen).toHaveLength(2))
    const bob = await patchbay.person()
    const theirs = await newToolkit(bob)
    await bob.expectOk('POST', `/toolkits/${theirs}/imports`, { url: `${slow.origin}/theirs.json` })
    await vi.waitFor(() => expect(slow.seen).toHaveLength(3))
    expect(slow.seen.map(({ url }) => url)).toEqual(['/openapi.json', '/openapi.json', '/theirs.json'])
    for (const { id } of await patchbay.db.import.findMany({ where: { toolkitId } })) {
      await ada.expectOk('DELETE', `/imports/${id}`)
    }
  })
})

describe('a Patchbay with little memory', () => {
  const patchbay = runPatchbay({ env: { PATCHBAY_MEMORY_MB: '256' } })

  it('refuses imports with the reason', async () => {
    const ada = await patchbay.person()
    const refused = await ada.send('POST', `/toolkits/${await newToolkit(ada)}/imports`, { text: ONE })
    expect(refused).toMatchObject({
      status: 503,
      body: { detail: expect.stringMatching(/512 MB.*PATCHBAY_MEMORY_MB/) },
    })
  })
})

describe('a Patchbay with a lower limit for sources', () => {
  const patchbay = runPatchbay({ env: { PATCHBAY_MAX_IMPORT_BYTES: '100000' } })

  it('refuses larger ones', async () => {
    const ada = await patchbay.person()
    const text = ONE.padEnd(100_001)
    const refused = await ada.send('POST', `/toolkits/${await newToolkit(ada)}/imports`, { text })
    expect(refused).toMatchObject({
      status: 413,
      body: { detail: 'The source is larger than 100000 bytes (PATCHBAY_MAX_IMPORT_BYTES).' },
    })
  })
})

describe('a Patchbay that stops while it reads', () => {
  const patchbay = runPatchbay({ isOwn: true })
  const slow = runFakeApi(() => undefined)

  it('marks the import as failed', async () => {
    const ada = await patchbay.person()
    const other = await patchbay.another()
    const here = createApiClient(other.origin, ada.token)
    const toolkitId = await newToolkit(ada)
    const started = await here.send('POST', `/toolkits/${toolkitId}/imports`, { url: slow.origin })
    const { id } = WithId.parse(started.body)
    await other.close()
    expect(await finished(ada, id)).toMatchObject({ state: 'failed', problem: expect.stringContaining('stopped') })
    expect((await pageOfItems(ada, id)).items).toEqual([])
  })
})
