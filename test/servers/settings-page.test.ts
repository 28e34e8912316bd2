import { describe, expect, it, vi } from 'vitest'
import { makeServer, signUp } from '../support/api-client.ts'
import { createPageBrowser, inputsOf } from '../support/page-browser.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'

vi.setConfig({ testTimeout: 30_000 })

const PASSWORD = 'correct horse battery staple'
const HOSTILE = '<script>alert(1)</script>'

describe('the settings of a server', () => {
  const patchbay = runPatchbay()
  const api = runFakeApi()
  const owner = runUser(patchbay)

  const make = async (name = 'Desk', client = owner) => {
    const tool = { name: 'one', method: 'GET', url: `${api.origin}/` }
    const { serverId, instanceIds } = await makeServer(client, [tool], { server: { name, access: 'public' } })
    return { serverId, instanceId: instanceIds.one ?? '', path: `/servers/${serverId}/settings` }
  }
  const signIn = async ({ email }: { email: string } = owner) => {
    const person = createPageBrowser(patchbay.origin)
    await person.submit('/sign-in', { email, password: PASSWORD })
    return person
  }
  const join = async (serverId: string, role: 'viewer' | 'builder' | 'admin') => {
    const { db } = patchbay.services
    const { organizationId } = await db.server.findUniqueOrThrow({ where: { id: serverId } })
    const member = await signUp(patchbay.origin)
    await db.membership.create({ data: { organizationId, userId: member.userId, role } })
    return { member, organizationId }
  }

  it('save name and description, and escape them everywhere', async () => {
    const { serverId, path } = await make()
    const person = await signIn()
    const version = inputsOf((await person.get(path)).html).get('version') ?? ''
    const saved = await person.submit(path, { name: HOSTILE, description: `a\r\n${HOSTILE}`, version })
    expect(saved).toMatchObject({ status: 303, location: `${path}?done=saved` })
    expect((await owner.send('GET', `/servers/${serverId}`)).body).toMatchObject({
      name: HOSTILE,
      description: `a\n${HOSTILE}`,
    })
    const { html } = await person.get(path)
    expect(html).toContain('&lt;script&gt;alert(1)')
    expect(html).not.toContain('<script>alert')
  })

  it.each([
    ['Desk\u202eksed', 'contains characters that change the direction of text'],
    ['two\nlines', 'contains control characters'],
  ])('refuse the name %j on the page and in the API alike', async (name, said) => {
    const { serverId, path } = await make()
    const person = await signIn()
    const version = inputsOf((await person.get(path)).html).get('version') ?? ''
    const refused = await person.submit(path, { name, description: '', version })
    expect(refused.status).toBe(400)
    expect(refused.html).toContain(`The name ${said}.`)
    const wrong = { status: 400, body: { errors: [{ path: 'name', message: said }] } }
    expect(await owner.send('PATCH', `/servers/${serverId}`, { name })).toMatchObject(wrong)
    expect(await owner.send('POST', '/servers', { name })).toMatchObject(wrong)
  })

  it('keep the input and show its errors', async () => {
    const { path } = await make()
    const person = await signIn()
    const version = inputsOf((await person.get(path)).html).get('version') ?? ''
    const refused = await person.submit(path, { name: '   ', description: 'kept', version })
    expect(refused.status).toBe(400)
    expect(refused.html).toContain('The name is empty.')
    expect(refused.html).toContain('kept</textarea>')
    const long = await person.submit(path, { name: 'x'.repeat(201), description: 'y'.repeat(10_001), version })
    expect(long.html).toContain('The name is longer than 200 characters.')
    expect(long.html).toContain('The description is longer than 10,000 characters.')
  })

  it('show the second of two editors both versions, and save theirs after that', async () => {
    const { serverId, path } = await make()
    const [first, second] = [await signIn(), await signIn()]
    const version = inputsOf((await first.get(path)).html).get('version') ?? ''
    await second.get(path)
    await first.submit(path, { name: 'From the first', description: '', version })
    const told = await second.submit(path, { name: 'From the second', description: '', version })
    expect(told.status).toBe(409)
    expect(told.html).toContain('Somebody else has changed the server')
    expect(told.html).toContain('<del>From the first</del>')
    expect(told.html).toContain('value="From the second"')
    expect((await owner.send('GET', `/servers/${serverId}`)).body).toMatchObject({ name: 'From the first' })
    const seen = inputsOf(told.html).get('version') ?? ''
    expect((await second.submit(path, { name: 'From the second', description: '', version: seen })).status).toBe(303)
    expect((await owner.send('GET', `/servers/${serverId}`)).body).toMatchObject({ name: 'From the second' })
    for (const forged of ['never', '0']) {
      expect((await second.submit(path, { name: 'x', description: '', version: forged })).status).toBe(409)
    }
  })

  it('delete the server after its name is entered, and list what is deleted', async () => {
    const { serverId, instanceId, path } = await make('Night  desk')
    await owner.expectOk('PUT', `/servers/${serverId}/globals/key`, { value: 'x' })
    await owner.expectOk('POST', `/instances/${instanceId}/call`, { arguments: {} })
    await patchbay.services.recorder.flush()
    const person = await signIn()
    const asked = (await person.get(`${path}/removal`)).html
    for (const what of ['1 tool', '1 global', '1 recorded call']) {
      expect(asked).toContain(`<li>${what}</li>`)
    }
    const wrong = await person.submit(`${path}/removal`, { sure: 'Desk' })
    expect(wrong.status).toBe(400)
    expect(wrong.html).toContain('The name is not Night desk.')
    expect((await owner.send('GET', `/servers/${serverId}`)).status).toBe(200)
    expect(await person.submit(`${path}/removal`, { sure: 'Night desk' })).toMatchObject({ status: 303 })
    expect((await owner.send('GET', `/servers/${serverId}`)).status).toBe(404)
    expect((await person.get(path)).status).toBe(404)
  })

  it('transfer the server to another organization and a new owner', async () => {
    const { serverId, path } = await make()
    const { db } = patchbay.services
    const heir = await signUp(patchbay.origin)
    const { organizationId } = await db.membership.findFirstOrThrow({ where: { userId: heir.userId } })
    const person = await signIn()
    expect((await person.get(path)).html).toContain('You are not a member of any other organization.')
    await db.membership.create({ data: { organizationId, userId: owner.userId, role: 'builder' } })
    expect((await person.get(path)).html).toContain(`<option value="${organizationId}"`)
    const unknown = await person.submit(`${path}/transfer`, { organizationId, ownerEmail: 'nobody@example.com' })
    expect(unknown.status).toBe(400)
    expect(unknown.html).toContain('The new owner is not a member of that organization with permission to build.')
    expect(unknown.html).toContain('value="nobody@example.com"')
    const none = await person.submit(`${path}/transfer`, { organizationId: 'x', ownerEmail: '' })
    expect(none.html).toContain('The organization must be an option from the list.')
    const done = await person.submit(`${path}/transfer`, { organizationId, ownerEmail: heir.email.toUpperCase() })
    expect(done.status).toBe(303)
    expect((await heir.send('GET', `/servers/${serverId}`)).body).toMatchObject({
      organizationId,
      ownerId: heir.userId,
    })
    await db.membership.deleteMany({ where: { organizationId, userId: owner.userId } })
    expect((await person.get(path)).status).toBe(404)
  })

  it('show and change the limits of results', async () => {
    const { serverId, path } = await make()
    const person = await signIn()
    expect(inputsOf((await person.get(path)).html).get('maxResponseTokens')).toBe('0')
    const fields = { maxResponseTokens: '1200', cutNotice: 'More with {cache_id}.' }
    expect(await person.submit(path, fields)).toMatchObject({
      status: 303,
      location: `${path}?done=saved`,
    })
    expect((await owner.send('GET', `/servers/${serverId}`)).body).toMatchObject({
      maxResponseTokens: 1_200,
      cutNotice: 'More with {cache_id}.',
    })
    const inputs = inputsOf((await person.get(path)).html)
    expect([inputs.get('maxResponseTokens'), inputs.get('cutNotice')]).toEqual(['1200', 'More with {cache_id}.'])
    const refused = await person.submit(path, { maxResponseTokens: 'many', cutNotice: `${HOSTILE} more` })
    expect(refused.status).toBe(400)
    expect(refused.html).toContain('must be a whole number from 200 to 1,000,000, or 0 for no limit.')
    expect(refused.html).toContain('must contain {cache_id}')
    expect(refused.html).not.toContain('<script>alert')
    expect(inputsOf(refused.html).get('maxResponseTokens')).toBe('many')
  })

  it('show and change how clients see the tools', async () => {
    const { serverId, path } = await make()
    const person = await signIn()
    const chosen = async (): Promise<string | undefined> =>
      /name="presentation" value="(\w+)" checked/.exec((await person.get(path)).html)?.[1]
    expect(await chosen()).toBe('flat')
    const done = `${path}?done=saved`
    expect(await person.submit(path, { presentation: 'grouped' })).toMatchObject({
      status: 303,
      location: done,
    })
    expect(await chosen()).toBe('grouped')
    expect((await person.get(done)).html).toContain('Clients are notified if their list of tools has changed.')
    expect((await owner.send('GET', `/servers/${serverId}`)).body).toMatchObject({ presentation: 'grouped' })
    for (const presentation of ['', 'everything', HOSTILE]) {
      const wrong = await person.submit(path, { presentation })
      expect(wrong.status).toBe(400)
      expect(wrong.html).toContain('The presentation must be an option from the list.')
    }
    const unfit = await person.submit(path, { presentation: 'passthrough' })
    expect(unfit.status).toBe(409)
    expect(unfit.html).toContain('The presentation cannot be passthrough:')
    const { member: viewer } = await join(serverId, 'viewer')
    const seeing = await signIn(viewer)
    const { html } = await seeing.get(path)
    expect(html).toContain('Grouped')
    expect(html).not.toContain('name="presentation"')
    expect((await seeing.submit(path, { presentation: 'flat' })).status).toBe(403)
    const foreign = await signIn(await signUp(patchbay.origin))
    await foreign.get('/account')
    expect((await foreign.submit(path, { presentation: 'flat' })).status).toBe(404)
    expect(await chosen()).toBe('grouped')
  })

  it('allow each role its actions, and hide the page from others', async () => {
    const { serverId, path } = await make()
    const { member: viewer } = await join(serverId, 'viewer')
    const { member: builder } = await join(serverId, 'builder')
    const stranger = await signUp(patchbay.origin)
    const [seeing, building, foreign] = [await signIn(viewer), await signIn(builder), await signIn(stranger)]
    await foreign.get('/account')
    const seen = (await seeing.get(path)).html
    expect(seen).not.toContain('name="version"')
    expect(seen).not.toContain('Delete server…')
    expect((await seeing.submit(path, { name: 'x', description: '', version: '' })).status).toBe(403)
    expect((await building.get(path)).html).toContain('name="version"')
    for (const [rest, fields] of [
      ['/removal', { sure: 'Desk' }],
      ['/transfer', { organizationId: serverId }],
    ] as const) {
      expect((await building.submit(`${path}${rest}`, fields)).status).toBe(403)
      expect((await foreign.submit(`${path}${rest}`, fields)).status).toBe(404)
    }
    expect((await building.get(`${path}/removal`)).status).toBe(403)
    expect((await foreign.get(path)).status).toBe(404)
    expect((await createPageBrowser(patchbay.origin).get(path)).location).toContain('/sign-in')
    const mine = await signIn()
    await mine.get(path)
    expect((await mine.submit(`${path}/removal`, { sure: 'Desk', _csrf: 'x' })).status).toBe(403)
    expect((await owner.send('GET', `/servers/${serverId}`)).body).toMatchObject({ name: 'Desk' })
  })
})
