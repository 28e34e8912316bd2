import { describe, expect, it } from 'vitest'
import { databasesOfRun } from '../support/databases.ts'
import { runPatchbay, runUser } from '../support/world.ts'

describe.each(databasesOfRun)('the token settings of a server on $kind', kind => {
  const patchbay = runPatchbay({ kind })
  const ada = runUser(patchbay)

  it('are set on creation, and changed one by one', async () => {
    const wish = {
      maxResponseTokens: 0,
      cutNotice: 'More: {cache_id}',
      cutResultTools: 'never',
      compactTables: true,
      pinnedTools: ['b', 'a', 'b'],
    }
    const made = await ada.create('/servers', { name: 'Sparing', ...wish, maxFlatTokens: 100 })
    const kept = { ...wish, pinnedTools: ['b', 'a'], maxFlatTokens: 100 }
    expect(made).toMatchObject(kept)
    const changed = await ada.expectOk('PATCH', `/servers/${made.id}`, { cutNotice: null })
    expect(changed.body).toMatchObject({ ...kept, cutNotice: null })
    await ada.expectOk('PATCH', `/servers/${made.id}`, { maxResponseTokens: 500, pinnedTools: [] })
    expect((await ada.send('GET', `/servers/${made.id}`)).body).toMatchObject({
      ...kept,
      maxResponseTokens: 500,
      cutNotice: null,
      pinnedTools: [],
    })
  })

  it.each([
    ['a budget that is too small', { maxResponseTokens: 199 }, 'maxResponseTokens'],
    ['a negative budget', { maxResponseTokens: -1 }, 'maxResponseTokens'],
    ['a fractional budget', { maxResponseTokens: 1_000.5 }, 'maxResponseTokens'],
    ['a notice without the id', { cutNotice: 'There is more.' }, 'cutNotice'],
    ['a notice of two lines', { cutNotice: 'More:\n{cache_id}' }, 'cutNotice'],
    ['an unknown listing of the tools for cut results', { cutResultTools: 'sometimes' }, 'cutResultTools'],
    ['too many pinned tools', { pinnedTools: Array.from({ length: 101 }, String) }, 'pinnedTools'],
  ])('is refused with %s, and stays as it was', async (_what, wish, path) => {
    const { id } = await ada.create('/servers', { name: 'Refused' })
    const before = (await ada.send('GET', `/servers/${id}`)).body
    const refused = await ada.send('PATCH', `/servers/${id}`, wish)
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ path }] } })
    expect((await ada.send('GET', `/servers/${id}`)).body).toEqual(before)
  })
})
