import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { INITIALIZE, knock, postTo } from '../mcp/messages.ts'
import { connect, makeRequest, refresh, registerClient } from '../oauth/support/client.ts'
import { insertToken } from '../oauth/support/tokens.ts'
import { createVisitor } from '../oauth/support/visitor.ts'
import { callTool } from '../process/calls.ts'
import { type ApiClient, createApiClient, makeServer } from '../support/api-client.ts'
import { createBrowser } from '../support/browser.ts'
import { databasesOfRun } from '../support/databases.ts'
import { createPageBrowser } from '../support/page-browser.ts'
import { type Person, runFakeApi, runPatchbay } from '../support/world.ts'
import { readEvents } from '../web/event-reader.ts'

const PASSWORD = 'correct horse battery staple'
const REASON = 'Calls an API that its owner has closed'

const Problem = z.object({ detail: z.string() })
const detailOf = (body: unknown): string => Problem.parse(body).detail
const Listed = z.object({ items: z.array(z.looseObject({ id: z.string() })) })

describe.each(databasesOfRun)('a suspension on $kind', kind => {
  const world = runPatchbay({ kind, isOwn: true })
  const fake = runFakeApi()
  let operator: Person
  beforeAll(async () => {
    operator = await world.person()
  })

  const suspend = (path: string) => operator.expectOk('PUT', `${path}/suspension`, { reason: REASON })
  const restore = (path: string) => operator.expectOk('DELETE', `${path}/suspension`)
  const refusalOf = async (person: ApiClient, method: string, path: string, body?: unknown) => {
    const response = await person.send(method, path, body)
    return { status: response.status, detail: detailOf(response.body) }
  }
  const rpcErrorOf = async (url: string, token?: string) => {
    const response = await postTo(url, token, INITIALIZE())
    return { status: response.status, text: await response.text() }
  }
  const makeOwned = async (access: 'public' | 'private' = 'private') => {
    const owner = await world.person()
    const tool = { name: 'echo', method: 'GET', url: `${fake.origin}/` }
    return { owner, ...(await makeServer(owner, [tool], { server: { access } })) }
  }

  it('of a user signs them out, and tells them why when they sign in again', async () => {
    const person = await world.person()
    const browser = createBrowser(world.origin)
    await browser.signIn(person.email, PASSWORD)
    await suspend(`/users/${person.userId}`)

    expect((await browser.send('GET', '/me')).status).toBe(401)
    const again = await createBrowser(world.origin).signIn(person.email, PASSWORD)
    expect([again.status, detailOf(again.json())]).toEqual([403, expect.stringContaining(REASON)])
    const wrong = await createBrowser(world.origin).signIn(person.email, 'not the right password')
    expect([wrong.status, detailOf(wrong.json())]).toEqual([401, expect.not.stringContaining(REASON)])
    const page = createPageBrowser(world.origin)
    const form = await page.submit('/sign-in', { email: person.email, password: PASSWORD })
    expect(form.html).toContain(REASON)

    await restore(`/users/${person.userId}`)
    expect((await createBrowser(world.origin).signIn(person.email, PASSWORD)).status).toBe(200)
  })

  it('of a user refuses their tokens with the reason, at the API and at servers, until it ends', async () => {
    const { owner, url, serverId } = await makeOwned()
    const { token: issued } = await insertToken(world.services, {
      origin: world.origin,
      userId: owner.userId,
      serverId,
    })
    const tokens = [owner.token, issued]
    expect(await Promise.all(tokens.map(token => knock(url, token)))).toEqual([200, 200])
    await suspend(`/users/${owner.userId}`)

    expect(await refusalOf(owner, 'GET', '/me')).toEqual({ status: 403, detail: expect.stringContaining(REASON) })
    for (const token of tokens) {
      expect(await rpcErrorOf(url, token)).toEqual({ status: 403, text: expect.stringContaining(REASON) })
    }
    const discovery = await fetch(`${world.origin}/.well-known/mcp-servers`, {
      headers: { authorization: `Bearer ${owner.token}` },
    })
    expect(discovery.status).toBe(403)

    await restore(`/users/${owner.userId}`)
    expect(await Promise.all(tokens.map(token => knock(url, token)))).toEqual([200, 200])
    expect((await owner.send('GET', '/me')).status).toBe(200)
  })

  it('of a user gives their applications no new tokens, and tells them why, until it ends', async () => {
    const { owner, url } = await makeOwned()
    const visitor = createVisitor(world.origin)
    await visitor.signIn(owner.email)
    const { client_id: clientId } = await registerClient(world.origin)
    const { refresh_token } = await connect(visitor, world.origin, makeRequest(clientId, url))
    await suspend(`/users/${owner.userId}`)
    const refused = await refresh(world.origin, clientId, refresh_token)
    expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(JSON.stringify(refused.body)).toContain(REASON)
    await restore(`/users/${owner.userId}`)
    expect((await refresh(world.origin, clientId, refresh_token)).status).toBe(200)
  })

  it.each(['server', 'organization'] as const)(
    'of the %s tells callers and members the reason; members can read it but not change it',
    async what => {
      const { owner, url, serverId, toolkitId, instanceIds } = await makeOwned('public')
      const path = what === 'server' ? `/servers/${serverId}` : `/organizations/${owner.organizationId}`
      await suspend(path)

      expect(await rpcErrorOf(url)).toEqual({ status: 403, text: expect.stringContaining(REASON) })
      const discovery = await fetch(`${world.origin}/.well-known/mcp-servers`)
      expect(await discovery.text()).not.toContain(serverId)
      expect((await owner.send('GET', `/servers/${serverId}`)).status).toBe(200)
      const refused = { status: 403, detail: expect.stringContaining(REASON) }
      expect(await refusalOf(owner, 'PATCH', `/servers/${serverId}`, { name: 'New' })).toEqual(refused)
      expect(await refusalOf(owner, 'PUT', `/servers/${serverId}/globals/key`, { value: '1' })).toEqual(refused)
      const call = `/instances/${instanceIds.echo}/call`
      expect(await refusalOf(owner, 'POST', call, { arguments: {} })).toEqual(refused)
      const rename = await owner.send('PATCH', `/toolkits/${toolkitId}`, { title: 'New' })
      expect(rename.status).toBe(what === 'server' ? 200 : 403)

      await restore(path)
      expect(await knock(url)).toBe(200)
      expect((await owner.send('PATCH', `/servers/${serverId}`, { name: 'New' })).status).toBe(200)
      const audited = (await world.auditOf(owner.organizationId)).filter(action => /suspended|restored/.test(action))
      expect(audited).toEqual([`${what}.suspended`, `${what}.restored`])
    },
  )

  it('of a private server is not shown to those who may not use it', async () => {
    const { url, serverId } = await makeOwned()
    const stranger = await world.person()
    await suspend(`/servers/${serverId}`)
    expect(await rpcErrorOf(url, stranger.token)).toEqual({ status: 403, text: expect.not.stringContaining(REASON) })
    expect((await rpcErrorOf(url)).status).toBe(401)
  })

  it('of an organization ends its open streams, and it reaches no API, not even from the tool editor', async () => {
    const { owner, url, toolkitId } = await makeOwned('public')
    const stream = await fetch(url, { headers: { accept: 'text/event-stream' } })
    const { body } = await owner.expectOk('GET', `/toolkits/${toolkitId}/tools`)
    const toolId = Listed.parse(body).items[0]?.id
    await suspend(`/organizations/${owner.organizationId}`)
    await stream.text()
    const before = fake.seen.length
    expect((await owner.send('POST', `/tools/${toolId}/test`, { arguments: {} })).status).toBe(403)
    expect(fake.seen.length).toBe(before)
  })

  it('applies to every process at once, and still after a restart', async () => {
    const { owner, url, serverId } = await makeOwned('public')
    const other = await world.another()
    onTestFinished(other.close)
    const there = url.replace(world.origin, other.origin)
    expect(await knock(there)).toBe(200)
    await suspend(`/servers/${serverId}`)
    await vi.waitFor(async () => expect(await knock(there)).toBe(403))
    await restore(`/servers/${serverId}`)
    await vi.waitFor(async () => expect(await knock(there)).toBe(200))

    await suspend(`/users/${owner.userId}`)
    const later = await world.another()
    onTestFinished(later.close)
    expect((await createApiClient(later.origin, owner.token).send('GET', '/me')).status).toBe(403)
  })

  it('of an origin refuses calls of tools and attached MCP servers with the reason, also on open connections', async () => {
    const { owner, url, serverId } = await makeOwned('public')
    expect((await callTool(url, 'echo')).text).not.toContain('"isError":true')
    const before = fake.seen.length
    const blocked = await operator.create('/blocked-origins', { origin: `${fake.origin}/any/path`, reason: REASON })
    expect(blocked).toMatchObject({ origin: fake.origin, reason: REASON, createdById: operator.userId })

    expect((await callTool(url, 'echo')).text).toContain(REASON)
    const upstream = { name: 'there', transport: 'http', url: `${fake.origin}/mcp` }
    const { id } = await owner.create(`/servers/${serverId}/upstreams`, upstream)
    const shown = await owner.send('POST', `/upstreams/${id}/refresh`)
    expect(JSON.stringify(shown.body)).toContain(REASON)
    expect(fake.seen.length).toBe(before)

    await operator.expectOk('DELETE', `/blocked-origins/${blocked.id}`)
    expect((await callTool(url, 'echo')).text).not.toContain(REASON)
  })

  it('is a user: the live page of their organization ends, also if it was opened with a token', async () => {
    const { owner } = await makeOwned()
    // Access is checked again every five seconds.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'], shouldClearNativeTimers: true })
    onTestFinished(() => void vi.useRealTimers())
    const path = `${world.origin}/organizations/${owner.organizationId}/live`
    const stream = await readEvents(path, { authorization: `Bearer ${owner.token}` })
    onTestFinished(stream.close)
    expect(stream.status).toBe(200)
    await suspend(`/users/${owner.userId}`)
    vi.advanceTimersByTime(5_000)
    await stream.next('over', z.object({}))
    await stream.closed
  })

  it('is what the operator named: no name makes it something else', async () => {
    const { findSuspendable } = world.services.suspensionService
    const { serverId } = await makeOwned()
    const decoy = await makeOwned()
    const rename = (name: string) => decoy.owner.expectOk('PATCH', `/servers/${decoy.serverId}`, { name })
    const address = `${world.origin}/s/${serverId}`
    expect((await findSuspendable('server', address)).id).toBe(serverId)
    await rename(serverId)
    expect((await findSuspendable('server', serverId)).id).toBe(serverId)
    await rename(address)
    await expect(findSuspendable('server', address)).rejects.toThrow('the id of another')
    await rename('A decoy')
    expect((await findSuspendable('server', 'A decoy')).id).toBe(decoy.serverId)
  })

  it('is listed for the operator, who cannot suspend themselves', async () => {
    const person = await world.person()
    const own = await refusalOf(operator, 'PUT', `/users/${operator.userId}/suspension`, { reason: REASON })
    expect(own).toEqual({ status: 409, detail: 'You cannot suspend your own account.' })
    await suspend(`/users/${person.userId}`)
    const { body } = await operator.expectOk('GET', '/suspensions/users')
    expect(Listed.parse(body).items).toContainEqual(
      expect.objectContaining({
        id: person.userId,
        name: person.email,
        reason: REASON,
        suspendedById: operator.userId,
      }),
    )
    const users = await operator.expectOk('GET', `/users?q=${encodeURIComponent(person.email)}`)
    expect(Listed.parse(users.body).items).toMatchObject([{ email: person.email, suspendedReason: REASON }])
    await restore(`/users/${person.userId}`)
    expect((await operator.send('DELETE', `/users/${person.userId}/suspension`)).status).toBe(404)
  })

  it.each([
    ['an empty reason', '/blocked-origins', { origin: 'https://a.example', reason: ' ' }],
    ['a reason of several lines', '/blocked-origins', { origin: 'https://a.example', reason: 'a\nb' }],
    ['a host without a scheme', '/blocked-origins', { origin: 'a.example', reason: REASON }],
    ['another scheme', '/blocked-origins', { origin: 'ftp://a.example', reason: REASON }],
  ])('is not suspended with %s', async (_, path, body) => {
    expect((await operator.send('POST', path, body)).status).toBe(400)
  })
})
