import { expect, it, vi } from 'vitest'
import { makeServer, signUp } from '../support/api-client.ts'
import { createPageBrowser } from '../support/page-browser.ts'
import { runPatchbay } from '../support/world.ts'

vi.setConfig({ testTimeout: 30_000 })

const patchbay = runPatchbay()
const CHOICE = /<input type="checkbox" name="compactTables"( checked)?>/

const signIn = async (email: string) => {
  const person = createPageBrowser(patchbay.origin)
  await person.submit('/sign-in', { email, password: 'correct horse battery staple' })
  return person
}

it('the settings of a server show builders whether lists are sent as tables; others can only read it', async () => {
  const owner = await signUp(patchbay.origin)
  const { serverId } = await makeServer(owner, [])
  const path = `/servers/${serverId}/settings`
  const person = await signIn(owner.email)
  expect(CHOICE.exec((await person.get(path)).html)?.[1]).toBeUndefined()
  const saved = await person.submit(path, { compactTables: 'on', switches: 'compactTables' })
  expect(saved).toMatchObject({ status: 303, location: `${path}?done=saved` })
  const { html } = await person.get(`${path}?done=saved`)
  expect(html).toContain('Saved. Changes apply from the next call.')
  expect(CHOICE.exec(html)?.[1]).toBe(' checked')
  expect((await owner.send('GET', `/servers/${serverId}`)).body).toMatchObject({ compactTables: true })

  const { db } = patchbay.services
  const { organizationId } = await db.server.findUniqueOrThrow({ where: { id: serverId } })
  const viewer = await signUp(patchbay.origin)
  await db.membership.create({ data: { organizationId, userId: viewer.userId, role: 'viewer' } })
  const reader = await signIn(viewer.email)
  expect((await reader.get(path)).html).toContain('Lists of similar objects are sent as tables.')
  expect((await reader.submit(path, { switches: 'compactTables' })).status).toBe(403)
  expect((await owner.send('GET', `/servers/${serverId}`)).body).toMatchObject({ compactTables: true })
  await person.submit(path, { switches: 'compactTables' })
  expect((await owner.send('GET', `/servers/${serverId}`)).body).toMatchObject({ compactTables: false })
})
