import { beforeAll, describe, expect, it } from 'vitest'
import { createApiClient } from '../../support/api-client.ts'
import { createBrowser } from '../../support/browser.ts'
import { databasesOfRun } from '../../support/databases.ts'
import { createPageBrowser } from '../../support/page-browser.ts'
import { SETUP_TOKEN } from '../../support/setup-token.ts'
import { runPatchbay, runUser } from '../../support/world.ts'
import { BEHIND_PROXY, PASSWORD } from '../app.ts'
import { readEntries } from './audit-world.ts'

const HOME = '198.51.100.7'

describe.each(databasesOfRun)('the audit log on $kind', kind => {
  const patchbay = runPatchbay({ kind, env: BEHIND_PROXY })
  let organizationId: string
  const operator = runUser(patchbay, 'operator@example.com')
  const builder = runUser(patchbay, 'builder@example.com')
  beforeAll(async () => {
    const membership = await patchbay.services.db.membership.findFirstOrThrow({ where: { userId: builder.userId } })
    organizationId = membership.organizationId
  })
  const ofOrganization = (query = '') => readEntries(builder, `/organizations/${organizationId}/audit`, query)
  const ofInstallation = (query = '') => readEntries(operator, '/audit', query)
  const actor = () => ({ id: builder.userId, email: builder.email })

  it('records who created an account, from where, and its new organization', async () => {
    const browser = createBrowser(patchbay.origin, { address: HOME })
    await browser.signUp('new@example.com', PASSWORD)
    const [entry] = await ofInstallation('&action=user.signed_up')
    expect(entry).toMatchObject({
      action: 'user.signed_up',
      actor: { email: 'new@example.com' },
      target: { type: 'user', id: entry?.actor?.id, name: 'new@example.com' },
      address: HOME,
      change: { isOperator: false },
      organizationId: null,
    })
    const [founded] = await ofInstallation('&action=organization.created')
    expect(founded).toMatchObject({ actor: entry?.actor, address: HOME, change: { owner: 'new@example.com' } })
    expect(founded?.organizationId).toBe(founded?.target.id)
  })

  it('records sign-ins and sign-outs, and failures with the email that was tried, for the operator only', async () => {
    const browser = createBrowser(patchbay.origin, { address: HOME })
    await browser.signIn(builder.email, 'a wrong password')
    await browser.signIn('nobody@example.com', 'a wrong password')
    await browser.signIn(builder.email, PASSWORD)
    await browser.loadCsrfToken()
    await browser.send('DELETE', '/session')

    const failed = await ofInstallation('&action=user.sign_in_failed')
    const stranger = { action: 'user.sign_in_failed', actor: null, address: HOME, organizationId: null }
    expect(failed.slice(0, 2)).toMatchObject([
      { ...stranger, target: { type: 'user', id: null, name: 'nobody@example.com' } },
      { ...stranger, target: { type: 'user', id: builder.userId, name: builder.email } },
    ])
    const [signedOut, signedIn] = await ofInstallation(`&action=user.&actorId=${builder.userId}`)
    expect(signedIn).toMatchObject({ action: 'user.signed_in', actor: actor(), address: HOME })
    expect(signedOut).toMatchObject({ action: 'user.signed_out', actor: actor(), address: HOME })
    expect(await ofOrganization('&action=user.')).toEqual([])
    expect((await readEntries(builder, '/me/audit', '&action=user.')).map(({ action }) => action)).toEqual([
      'user.signed_out',
      'user.signed_in',
      'user.signed_up',
    ])
  })

  it('records sign-ins and sign-outs through the pages only once', async () => {
    const browser = createPageBrowser(patchbay.origin, { address: HOME })
    await browser.get('/sign-up')
    await browser.submit('/sign-up', { email: 'pages@example.com', password: PASSWORD, setup_token: SETUP_TOKEN })
    await browser.get('/account')
    await browser.submit('/sign-out', {})
    await browser.get('/sign-in')
    await browser.submit('/sign-in', { email: 'pages@example.com', password: PASSWORD })
    const { id } = await patchbay.services.db.user.findUniqueOrThrow({ where: { email: 'pages@example.com' } })
    const entries = await ofInstallation(`&action=user.&targetId=${id}`)
    expect(entries.map(({ action, address }) => [action, address])).toEqual([
      ['user.signed_in', HOME],
      ['user.signed_out', HOME],
      ['user.signed_up', HOME],
    ])
  })

  it('records no more failed sign-ins than the throttle allows', async () => {
    const browser = createBrowser(patchbay.origin, { address: '198.51.100.99' })
    const statuses: number[] = []
    for (let count = 0; count < 14; count++) {
      statuses.push((await browser.signIn('flooded@example.com', 'a wrong password')).status)
    }
    expect(statuses.filter(status => status === 429)).toHaveLength(4)
    const failed = await ofInstallation('&action=user.sign_in_failed')
    expect(failed.filter(({ target }) => target.name === 'flooded@example.com')).toHaveLength(10)
  })

  it('records who created and revoked which token, with its scopes, and the actions of the command line', async () => {
    const made = await builder.create('/tokens', { name: 'for CI', scopes: ['read'] })
    await builder.expectOk('DELETE', `/tokens/${made.id}`)
    const target = { type: 'token', id: made.id, name: 'for CI' }
    expect(await ofInstallation(`&targetId=${made.id}`)).toMatchObject([
      { action: 'token.removed', actor: actor(), target, address: '127.0.0.1', organizationId: null },
      { action: 'token.created', actor: actor(), target, change: { userId: builder.userId, scopes: ['read'] } },
    ])

    const { accounts } = patchbay.services
    const user = await accounts.createUser({ email: 'made@example.com', password: PASSWORD, organization: 'Made' })
    const token = await accounts.createTokenFor('made@example.com', { name: 'made', scopes: ['mcp'] })
    const byCommand = { actor: null, address: null }
    expect(await ofInstallation(`&targetId=${user.id}`)).toMatchObject([{ action: 'user.created', ...byCommand }])
    expect(await ofInstallation(`&targetId=${token.id}`)).toMatchObject([
      { action: 'token.created', ...byCommand, change: { userId: user.id, scopes: ['mcp'] } },
    ])
  })

  it('records who created, opened up and deleted a server, but no changes that leave access as it is', async () => {
    const { id } = await builder.create('/servers', { name: 'Weather' })
    await builder.expectOk('PATCH', `/servers/${id}`, { description: 'Of everywhere', access: 'private' })
    await builder.expectOk('PATCH', `/servers/${id}`, { access: 'public', allowedUsers: ['operator@example.com'] })
    await builder.expectOk('DELETE', `/servers/${id}`)
    const { id: operatorId } = await patchbay.services.db.user.findFirstOrThrow({ where: { isOperator: true } })
    const common = { actor: actor(), target: { type: 'server', id, name: 'Weather' }, organizationId }
    expect(await ofOrganization(`&targetId=${id}`)).toMatchObject([
      { ...common, action: 'server.removed', change: null },
      {
        ...common,
        action: 'server.access_changed',
        change: { access: { from: 'private', to: 'public' }, allowedUsers: { from: [], to: [operatorId] } },
      },
      { ...common, action: 'server.created', change: { access: 'private', allowedUsers: [], allowAnyOrigin: false } },
    ])
  })

  it('records each changed part of a server’s presentation and result settings', async () => {
    const { id } = await builder.create('/servers', { name: 'Sparing', maxResponseTokens: 500 })
    const patch = (wish: object) => builder.expectOk('PATCH', `/servers/${id}`, wish)
    await patch({ presentation: 'search', pinnedTools: ['one', 'two'], maxResponseTokens: 500 })
    await patch({ presentation: 'search', pinnedTools: ['one', 'two'] })
    await patch({ maxFlatTokens: 9_000, maxResponseTokens: 0, cutNotice: 'More: {cache_id}', compactTables: true })
    await patch({ cutNotice: null })
    const entries = await ofOrganization(`&targetId=${id}`)
    const notice = 'More: {cache_id}'
    expect(entries.map(({ action, change }) => [action, change])).toEqual([
      ['server.answers_changed', { cutNotice: { from: notice, to: null } }],
      [
        'server.answers_changed',
        {
          maxResponseTokens: { from: 500, to: 0 },
          cutNotice: { from: null, to: notice },
          compactTables: { from: false, to: true },
        },
      ],
      ['server.presentation_changed', { maxFlatTokens: { from: 4_000, to: 9_000 } }],
      [
        'server.presentation_changed',
        { presentation: { from: 'flat', to: 'search' }, pinnedTools: { from: [], to: ['one', 'two'] } },
      ],
      ['server.created', { access: 'private', allowedUsers: [], allowAnyOrigin: false }],
    ])
  })

  it('records by key which secrets and globals were set and removed, and when one became the other', async () => {
    const { id } = await builder.create('/servers', { name: 'Keys' })
    const put = (value: string, secret?: boolean) =>
      builder.expectOk('PUT', `/servers/${id}/globals/api_key`, { value, ...(secret !== undefined && { secret }) })
    await put('plain')
    await put('plainer')
    await put('hidden', true)
    await put('rotated')
    await builder.expectOk('DELETE', `/servers/${id}/globals/api_key`)
    const entries = await ofOrganization(`&targetId=${id}`)
    expect(entries.map(({ action, change }) => [action, change])).toEqual([
      ['secret.removed', { key: 'api_key', isSecret: { from: true, to: null } }],
      ['secret.set', { key: 'api_key' }],
      ['secret.set', { key: 'api_key', isSecret: { from: false, to: true } }],
      ['global.set', { key: 'api_key' }],
      ['global.set', { key: 'api_key', isSecret: { from: null, to: false } }],
      ['server.created', { access: 'private', allowedUsers: [], allowAnyOrigin: false }],
    ])
  })

  it('records who created, published and deleted a toolkit, and which update of another’s toolkit a server accepted', async () => {
    const toolkit = await builder.create('/toolkits', { title: 'Tools' })
    await builder.expectOk('PATCH', `/toolkits/${toolkit.id}`, { title: 'More tools' })
    await builder.expectOk('PATCH', `/toolkits/${toolkit.id}`, { visibility: 'public' })
    const tools = `/toolkits/${toolkit.id}/tools`
    await builder.create(tools, { name: 'one', method: 'GET', url: 'https://api.example.com/one' })
    const server = await operator.create('/servers', { name: 'Taking' })
    const use = () => operator.expectOk('PUT', `/servers/${server.id}/toolkits/${toolkit.id}`)
    await use()
    await use()
    await builder.create(tools, { name: 'two', method: 'GET', url: 'https://api.example.com/two' })
    await use()
    await builder.expectOk('DELETE', `/toolkits/${toolkit.id}`)

    expect(await ofInstallation(`&action=server.toolkit_updated&targetId=${server.id}`)).toMatchObject([
      { change: { toolkitId: toolkit.id, toolkit: 'More tools', added: ['two'], changed: [], removed: [] } },
    ])
    const entries = await ofOrganization(`&targetId=${toolkit.id}`)
    expect(entries.map(({ action, target, change }) => [action, target.name, change])).toEqual([
      ['toolkit.removed', 'More tools', null],
      ['toolkit.visibility_changed', 'More tools', { visibility: { from: 'private', to: 'public' } }],
      ['toolkit.created', 'Tools', { visibility: 'private' }],
    ])
  })

  it('does not record rejected actions', async () => {
    const before = await patchbay.services.db.auditEntry.count()
    const { id } = await patchbay.services.db.server.findFirstOrThrow({ where: { organizationId } })
    const stranger = createApiClient(patchbay.origin)
    const foreign = await operator.send('DELETE', `/servers/${id}`)
    const anonymous = await stranger.send('DELETE', `/servers/${id}`)
    const invalid = await builder.send('PATCH', `/servers/${id}`, {
      access: 'public',
      allowedUsers: ['who@example.com'],
    })
    expect([foreign.status, anonymous.status, invalid.status]).toEqual([404, 401, 400])
    expect(await patchbay.services.db.auditEntry.count()).toBe(before)
  })
})
