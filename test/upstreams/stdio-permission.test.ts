import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type ApiClient, signUp } from '../support/api-client.ts'
import { databasesOfRun } from '../support/databases.ts'
import { runPatchbay } from '../support/world.ts'

const COMMAND = { transport: 'stdio', command: 'npx', args: ['-y', 'a-server', '; rm -rf /', '{{place}}'] }
const REMOTE = { transport: 'http', url: 'https://mcp.example.com/mcp' }
const Refused = z.object({ errors: z.array(z.object({ path: z.string(), message: z.string() })) })

type Account = Awaited<ReturnType<typeof signUp>>

/** Creates the operator with a server, and a builder in the same organization. */
const makePeople = async (patchbay: ReturnType<typeof runPatchbay>) => {
  const { db } = patchbay.services
  const operator = await signUp(patchbay.origin, 'operator@example.com')
  const builder = await signUp(patchbay.origin)
  const { organizationId } = await db.membership.findFirstOrThrow({ where: { userId: operator.userId } })
  await db.membership.deleteMany({ where: { userId: builder.userId } })
  await db.membership.create({ data: { organizationId, userId: builder.userId, role: 'owner' } })
  return { operator, builder }
}

describe.each(databasesOfRun)('commands as upstreams, if allowed, on $kind', kind => {
  const patchbay = runPatchbay({ kind, env: { PATCHBAY_ALLOW_STDIO: 'true' } })
  let operator: Account
  let builder: Account
  beforeAll(async () => {
    ;({ operator, builder } = await makePeople(patchbay))
  })
  const makeServer = async () => (await operator.create('/servers', { name: 'Local' })).id
  const attach = async () => {
    const serverId = await makeServer()
    const made = await operator.create(`/servers/${serverId}/upstreams`, { name: 'local', ...COMMAND })
    return { serverId, path: `/upstreams/${made.id}`, id: made.id, made }
  }

  it('can be attached by the operator, with their arguments unchanged', async () => {
    const { made, serverId, id } = await attach()
    expect(made).toMatchObject({ ...COMMAND, env: {}, cwd: null, url: null, headers: null, globals: ['place'] })
    await operator.expectOk('PUT', `/servers/${serverId}/globals/place`, { value: '$(id) `id` "; ls' })
    expect(await patchbay.services.upstreamLoading.resolveUpstream(id)).toMatchObject({
      ok: true,
      value: { command: 'npx', args: ['-y', 'a-server', '; rm -rf /', '$(id) `id` "; ls'] },
    })
  })

  it('cannot be attached by others, not even by an owner or by changing another upstream', async () => {
    const serverId = await makeServer()
    const refused = { status: 403, body: { detail: expect.stringContaining('Only the operator') } }
    expect(await builder.send('POST', `/servers/${serverId}/upstreams`, { name: 'x', ...COMMAND })).toMatchObject(
      refused,
    )
    const remote = await builder.create(`/servers/${serverId}/upstreams`, { name: 'remote', ...REMOTE })
    expect(await builder.send('PATCH', `/upstreams/${remote.id}`, COMMAND)).toMatchObject(refused)
    expect(await patchbay.services.db.upstream.findMany({ where: { serverId } })).toMatchObject([
      { name: 'remote', transport: 'http' },
    ])
    expect((await operator.send('PATCH', `/upstreams/${remote.id}`, COMMAND)).body).toMatchObject({
      transport: 'stdio',
      url: null,
      headers: null,
    })
  })

  it('keep the operator in their organization: others can remove an operator only once no command is left', async () => {
    const { userId } = await signUp(patchbay.origin)
    await patchbay.db.user.update({ where: { id: userId }, data: { isOperator: true } })
    const { organizationId } = await patchbay.db.membership.findFirstOrThrow({ where: { userId: operator.userId } })
    const join = () => patchbay.db.membership.create({ data: { organizationId, userId, role: 'admin' } })
    const path = `/organizations/${organizationId}/members/${userId}`
    await attach()
    await join()
    expect(await builder.send('DELETE', path)).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('runs a command on this machine') },
    })
    await operator.expectOk('DELETE', path)
    await join()
    await patchbay.db.upstream.deleteMany({ where: { transport: 'stdio', server: { organizationId } } })
    await builder.expectOk('DELETE', path)
  })

  it.each([
    ['the command', { command: 'sh' }],
    ['an argument', { args: ['-c', 'id'] }],
    ['a variable', { env: { NODE_OPTIONS: '--require x' } }],
    ['the directory', { cwd: '/tmp' }],
  ])('hide %s from everybody else', async (_what, change) => {
    const { path } = await attach()
    expect((await builder.send('PATCH', path, change)).status).toBe(403)
    expect((await operator.send('PATCH', path, change)).status).toBe(200)
  })

  it('move to another organization with their server only by the operator, even if disabled', async () => {
    const { serverId, path } = await attach()
    const { db } = patchbay.services
    const elsewhere = await signUp(patchbay.origin)
    const { organizationId } = await db.membership.findFirstOrThrow({ where: { userId: elsewhere.userId } })
    for (const { userId } of [operator, builder]) {
      await db.membership.create({ data: { organizationId, userId, role: 'builder' } })
    }
    const move = (person: ApiClient) => person.send('POST', `/servers/${serverId}/transfer`, { organizationId })
    const refused = { status: 403, body: { detail: expect.stringMatching(/"local".*only the operator.*Remove it/) } }
    expect(await move(builder)).toMatchObject(refused)
    await builder.expectOk('PATCH', path, { enabled: false })
    expect(await move(builder)).toMatchObject(refused)
    expect(await move(operator)).toMatchObject({ status: 200, body: { organizationId } })
    await db.membership.delete({ where: { organizationId_userId: { organizationId, userId: operator.userId } } })

    const another = await attach()
    await builder.expectOk('DELETE', another.path)
    const moved = await builder.send('POST', `/servers/${another.serverId}/transfer`, { organizationId })
    expect(moved).toMatchObject({ status: 200, body: { organizationId } })
  })

  it('can be described, filtered, disabled and removed by builders, but enabled only by the operator', async () => {
    const { path } = await attach()
    expect((await builder.send('PATCH', path, { description: 'mine', deny: ['rm_*'], enabled: false })).status).toBe(
      200,
    )
    expect((await builder.send('PATCH', path, { enabled: true })).status).toBe(403)
    expect((await operator.send('PATCH', path, { enabled: true })).status).toBe(200)
    expect((await builder.send('DELETE', path)).status).toBe(204)
  })

  it('protect the globals that they use from everybody else', async () => {
    const { serverId, path } = await attach()
    const global = `/servers/${serverId}/globals/place`
    expect(await builder.send('PUT', global, { value: '--eval=x' })).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('"local"') },
    })
    await operator.expectOk('PUT', global, { value: '/data' })
    expect((await builder.send('PUT', global, { value: '--eval=x' })).status).toBe(403)
    expect((await builder.send('DELETE', global)).status).toBe(403)
    expect((await builder.send('PUT', `/servers/${serverId}/globals/other`, { value: 'x' })).status).toBe(201)
    await operator.expectOk('DELETE', path)
    expect((await builder.send('DELETE', global)).status).toBe(204)
  })

  it.each([
    ['no command', { command: ' ' }, 'command'],
    ['braces that are no global', { args: ['{{.Names}}'] }, 'args[0]'],
    ['257 arguments', { args: Array.from({ length: 257 }, () => 'x') }, 'args[256]'],
    ['an argument of 9,000 characters', { args: ['x'.repeat(9_000)] }, 'args[0]'],
    ['a variable that is no name', { env: { 'A B': 'x' } }, 'env.A B'],
    ['a variable with =', { env: { 'A=B': 'x' } }, 'env.A=B'],
    ['129 variables', { env: Object.fromEntries(Array.from({ length: 129 }, (_, at) => [`V${at}`, ''])) }, 'env.V128'],
    ['a directory that is not absolute', { cwd: 'data' }, 'cwd'],
    ['a URL', { url: 'https://mcp.example.com' }, 'url'],
  ])('reject %s, naming the field', async (_what, fault, path) => {
    const serverId = await makeServer()
    const answer = await operator.send('POST', `/servers/${serverId}/upstreams`, { name: 'bad', ...COMMAND, ...fault })
    expect(answer.status).toBe(400)
    expect(Refused.parse(answer.body).errors.map(error => error.path)).toContain(path)
  })
})

describe('commands as upstreams, if not allowed', () => {
  const patchbay = runPatchbay()

  it('cannot be attached, and existing ones do not run', async () => {
    const { operator, builder } = await makePeople(patchbay)
    const { id: serverId } = await operator.create('/servers', { name: 'Local' })
    const remote = await operator.create(`/servers/${serverId}/upstreams`, { name: 'remote', ...REMOTE })
    expect(await operator.send('POST', `/servers/${serverId}/upstreams`, { name: 'x', ...COMMAND })).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('PATCHBAY_ALLOW_STDIO') },
    })
    expect((await operator.send('PATCH', `/upstreams/${remote.id}`, COMMAND)).status).toBe(403)
    expect((await builder.send('PATCH', `/upstreams/${remote.id}`, COMMAND)).status).toBe(403)
    const { db, upstreamLoading } = patchbay.services
    const row = await db.upstream.findUniqueOrThrow({ where: { id: remote.id } })
    const settings = z.record(z.string(), z.json()).parse(row.config)
    const config = { ...settings, command: 'npx', args: [], env: {} }
    const { id } = await db.upstream.create({ data: { serverId, name: 'old', transport: 'stdio', config } })
    expect(await upstreamLoading.resolveUpstream(id)).toMatchObject({ ok: false, error: { reason: 'not_allowed' } })
    expect((await operator.send('PATCH', `/upstreams/${id}`, { description: 'old' })).status).toBe(200)
  })
})
