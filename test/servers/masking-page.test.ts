import { expect, it, vi } from 'vitest'
import { makeServer, signUp } from '../support/api-client.ts'
import { createPageBrowser } from '../support/page-browser.ts'
import { runPatchbay } from '../support/world.ts'

vi.setConfig({ testTimeout: 30_000 })

const patchbay = runPatchbay()

const signIn = async (email: string) => {
  const person = createPageBrowser(patchbay.origin)
  await person.submit('/sign-in', { email, password: 'correct horse battery staple' })
  return person
}

it('builders edit the masking rules of a server and try them first; others only read them', async () => {
  const owner = await signUp(patchbay.origin)
  const { serverId } = await makeServer(owner, [])
  const path = `/servers/${serverId}/settings/masking`
  const person = await signIn(owner.email)
  const savedRules = async () => (await owner.send('GET', `/servers/${serverId}`)).body
  expect((await person.get(`/servers/${serverId}/settings`)).html).toContain('Only secrets are masked.')

  const typed = { email: 'on', card: 'on', patterns: 'EMP-\\d{6}\r\n\r\n(?i)secret \\w+' }
  const sample = '{"to":"ada@example.com","staff":"EMP-123456","tel":"+49 30 123456","n":"<b>"}'
  const tried = await person.submit(path, { ...typed, sample, step: 'try' })
  expect(tried.status).toBe(200)
  expect(tried.html).toContain('This is what clients get:')
  expect(tried.html).toContain(
    '{&quot;to&quot;:&quot;•••&quot;,&quot;staff&quot;:&quot;•••&quot;,&quot;tel&quot;:&quot;+49 30 123456&quot;,&quot;n&quot;:&quot;&lt;b',
  )
  expect(tried.html).toMatch(/name="email" checked/)
  expect(await savedRules()).toMatchObject({ masking: [] })
  const without = await person.submit(path, { ...typed, sample: 'nothing here', step: 'try' })
  expect(without.html).toContain('Nothing in this text is masked.')

  expect(await person.submit(path, typed)).toMatchObject({ status: 303, location: `${path}?done=saved` })
  const masking = [
    { kind: 'email' },
    { kind: 'card' },
    { kind: 'pattern', pattern: 'EMP-\\d{6}' },
    { kind: 'pattern', pattern: '(?i)secret \\w+' },
  ]
  expect(await savedRules()).toMatchObject({ masking })
  const { html } = await person.get(`${path}?done=saved`)
  expect(html).toContain('The rules apply from the next call.')
  expect(html).toContain('EMP-\\d{6}\n(?i)secret \\w+')

  const refused = await person.submit(path, { patterns: 'fine\r\nx(?=y)' })
  expect(refused.status).toBe(400)
  expect(refused.html).toContain('The patterns have an error in line 2: Lookaheads and lookbehinds are not supported')
  expect(await savedRules()).toMatchObject({ masking })
  const { organizationId } = await patchbay.services.db.server.findUniqueOrThrow({ where: { id: serverId } })
  const viewer = await signUp(patchbay.origin)
  await patchbay.services.db.membership.create({ data: { organizationId, userId: viewer.userId, role: 'viewer' } })
  const reader = await signIn(viewer.email)
  const summary = 'Masked in addition to secrets: email addresses, payment card numbers, and what matches 2 patterns.'
  expect((await reader.get(path)).html).toContain(summary)
  expect((await reader.get(`/servers/${serverId}/settings`)).html).toContain(summary)
  expect((await reader.submit(path, {})).status).toBe(403)
  expect(await savedRules()).toMatchObject({ masking })
})

it('rules typed on a page that somebody else has changed are not saved', async () => {
  const owner = await signUp(patchbay.origin)
  const { serverId } = await makeServer(owner, [])
  const path = `/servers/${serverId}/settings/masking`
  const person = await signIn(owner.email)
  const version = /name="version" value="([^"]+)"/.exec((await person.get(path)).html)?.[1] ?? ''
  await owner.expectOk('PATCH', `/servers/${serverId}`, { masking: [{ kind: 'phone' }] })
  const outdated = await person.submit(path, { version, email: 'on' })
  expect(outdated.status).toBe(409)
  expect(outdated.html).toMatch(/name="email" checked/)
  expect((await owner.send('GET', `/servers/${serverId}`)).body).toMatchObject({ masking: [{ kind: 'phone' }] })
})
