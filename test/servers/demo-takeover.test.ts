import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { ensureDemoServer } from '../../src/cli/demo/demo-server.ts'
import { INITIALIZE, knock, postTo } from '../mcp/messages.ts'
import { signUp } from '../support/api-client.ts'
import { databasesOfRun } from '../support/databases.ts'
import { organizationsOf, startWorld } from '../support/world.ts'
import { connect, toolNames } from './mcp.ts'

const Server = z.object({ access: z.string(), ownerId: z.string(), organizationId: z.string() })

describe.each(databasesOfRun)('the server of the demo on $kind', kind => {
  const begin = async () => {
    const world = await startWorld({ kind, isOwn: true })
    onTestFinished(() => world.close())
    return world
  }

  it('belongs to the first account and is private from its sign-up on, also for clients that are connected', async () => {
    const { origin, db, services, auditOf } = await begin()
    const demo = await ensureDemoServer(services)
    const url = `${origin}/s/${demo.id}`
    expect(demo.access).toBe('public')
    const stranger = await connect(url)
    expect(await toolNames(stranger)).toContain('convert_currency')
    const session = (await postTo(url, undefined, INITIALIZE())).headers.get('mcp-session-id') ?? ''
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' }
    const ask = async () => (await postTo(url, undefined, list, { 'mcp-session-id': session })).status
    expect(await ask()).toBe(200)

    const ada = await signUp(origin, 'ada@example.com')
    expect([await knock(url), await ask()]).toEqual([401, 401])
    await expect(stranger.listTools()).rejects.toThrow()
    const [own] = await organizationsOf(ada)
    expect(own).toMatchObject({ name: 'ada', role: 'owner' })
    const server = Server.parse((await ada.expectOk('GET', `/servers/${demo.id}`)).body)
    expect(server).toEqual({ access: 'private', ownerId: ada.userId, organizationId: own?.id })
    expect(await toolNames(await connect(url, ada.token))).toContain('convert_currency')
    expect(await db.toolkit.findMany({ select: { organizationId: true } })).toEqual([{ organizationId: own?.id }])
    expect(await db.user.findMany({ select: { email: true } })).toEqual([{ email: 'ada@example.com' }])
    expect(await auditOf(server.organizationId)).toEqual(
      expect.arrayContaining(['server.transferred', 'server.access_changed', 'member.added']),
    )
  })

  it('belongs to the operator and stays public if there is one already, whoever signs up later', async () => {
    const { origin, services } = await begin()
    const ada = await signUp(origin, 'ada@example.com')
    const demo = await ensureDemoServer(services)
    await signUp(origin, 'eve@example.com')
    expect(await ensureDemoServer(services)).toMatchObject({ id: demo.id, access: 'public' })
    expect(await knock(`${origin}/s/${demo.id}`)).toBe(200)
    expect(await ada.send('GET', `/servers/${demo.id}`)).toMatchObject({ body: { ownerId: ada.userId } })
  })

  it('never belongs to an account of its own once somebody has signed up, also at the same time', async () => {
    const { origin, db, services } = await begin()
    let isSignedUp = false
    const signingUp = signUp(origin, 'ada@example.com').finally(() => {
      isSignedUp = true
    })
    const askAgain = async () => {
      while (!isSignedUp) {
        // The demo's account may be deleted between the two steps.
        await services.accounts.getDemoActor().catch(() => undefined)
        await setImmediate()
      }
    }
    await Promise.all([signingUp, askAgain(), askAgain(), askAgain()])
    expect(await db.user.findMany({ select: { email: true } })).toEqual([{ email: 'ada@example.com' }])
  })

  it('has one new owner if several people sign up at once', async () => {
    const { origin, db, services } = await begin()
    const { id } = await ensureDemoServer(services)
    await Promise.all(Array.from({ length: 5 }, (_, index) => signUp(origin, `user${index}@example.com`)))
    const operators = await db.user.findMany({ where: { isOperator: true }, select: { id: true } })
    expect(operators).toHaveLength(1)
    expect(await db.server.findUnique({ where: { id } })).toMatchObject({
      ownerId: operators[0]?.id,
      access: 'private',
    })
  })

  it('is taken over with a server that the demo’s account was deleting meanwhile', async () => {
    const { origin, db, services } = await begin()
    const { id } = await ensureDemoServer(services)
    await db.server.update({ where: { id }, data: { removedAt: new Date() } })
    const ada = await signUp(origin, 'ada@example.com')
    expect(await db.user.count()).toBe(1)
    expect((await ada.send('GET', `/servers/${id}`)).status).toBe(404)
  })

  it('leaves the demo’s account in place while that belongs to another organization', async () => {
    const { origin, db, services } = await begin()
    const { id, owner } = await ensureDemoServer(services)
    const memberships = { create: { userId: owner.userId, role: 'owner' as const } }
    await db.organization.create({ data: { name: 'Made with a token', memberships } })
    const ada = await signUp(origin, 'ada@example.com')
    expect(await ada.send('GET', `/servers/${id}`)).toMatchObject({ body: { access: 'private', ownerId: ada.userId } })
    expect(await db.user.count()).toBe(2)
  })
})
