import { describe, expect, it, vi } from 'vitest'
import { makeServer } from '../support/api-client.ts'
import { createPageBrowser, inputsOf } from '../support/page-browser.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'

vi.setConfig({ testTimeout: 30_000 })

const HOSTILE = '<script>alert(1)</script>'

describe('the settings of how clients see the tools', () => {
  const patchbay = runPatchbay()
  const api = runFakeApi()
  const owner = runUser(patchbay)

  const open = async () => {
    const tools = ['forecast', 'list_invoices'].map(name => ({ name, method: 'GET', url: `${api.origin}/${name}` }))
    const { serverId } = await makeServer(owner, tools)
    const person = createPageBrowser(patchbay.origin)
    await person.submit('/sign-in', { email: owner.email, password: 'correct horse battery staple' })
    const path = `/servers/${serverId}/settings`
    await person.get(path)
    return {
      path,
      person,
      set: (fields: Record<string, string>) => person.submit(path, fields),
      read: async () => (await owner.send('GET', `/servers/${serverId}`)).body,
    }
  }

  it('choose search with pinned tools', async () => {
    const { path, person, set, read } = await open()
    expect(
      await set({ presentation: 'search', pinnedTools: ' forecast\r\n\r\nforecast ', maxFlatTokens: '' }),
    ).toMatchObject({ status: 303, location: `${path}?done=saved` })
    expect(await read()).toMatchObject({ presentation: 'search', pinnedTools: ['forecast'], maxFlatTokens: 4_000 })
    const { html } = await person.get(path)
    expect(html).toMatch(/value="search" checked/)
    expect(html).toMatch(/name="pinnedTools"[^>]*>\s*forecast<\/textarea>/)
  })

  it('show what auto selected, and why', async () => {
    const { path, person, set } = await open()
    await set({ presentation: 'auto', pinnedTools: '', maxFlatTokens: '100000' })
    expect((await person.get(path)).html).toMatch(
      /Now: The tools cost \d+ tokens, which is within the limit of 100,000, so all tools are listed/,
    )
    await set({ presentation: 'auto', pinnedTools: '', maxFlatTokens: '10' })
    expect((await person.get(path)).html).toMatch(
      /Now: The tools cost \d+ tokens, which is over the limit of 10, so they are found by search/,
    )
  })

  it('keep the input and show its errors', async () => {
    const { set, read } = await open()
    const misspelt = await set({ presentation: 'search', pinnedTools: 'forcast', maxFlatTokens: '' })
    expect(misspelt.status).toBe(400)
    expect(misspelt.html).toContain(
      'The list of pinned tools names forcast, which does not exist; the nearest is forecast.',
    )
    expect(misspelt.html).toMatch(/>\s*forcast<\/textarea>/)
    expect(misspelt.html).toMatch(/value="search" checked/)
    const hostile = await set({ presentation: 'search', pinnedTools: HOSTILE, maxFlatTokens: HOSTILE })
    expect(hostile.status).toBe(400)
    expect(hostile.html).not.toContain('<script>alert')
    expect(hostile.html).toContain('The number of tokens must be a whole number from 0 to 1,000,000.')
    expect(inputsOf(hostile.html).get('maxFlatTokens')).toBeDefined()
    expect((await set({ presentation: 'auto', pinnedTools: '', maxFlatTokens: '99999999' })).status).toBe(400)
    expect(await read()).toMatchObject({ presentation: 'flat', pinnedTools: [], maxFlatTokens: 4_000 })
  })
})
