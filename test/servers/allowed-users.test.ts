import { describe, expect, it } from 'vitest'
import { knock } from '../mcp/messages.ts'
import { databasesOfRun } from '../support/databases.ts'
import { withoutRequestId } from '../support/without-request-id.ts'
import { runPatchbay } from '../support/world.ts'

describe.each(databasesOfRun)('naming who may use a private server by e-mail on $kind', kind => {
  const world = runPatchbay({ kind, hasMail: true })

  it('excludes users who signed up with an address but have not confirmed it', async () => {
    const owner = await world.person()
    const squatter = await world.person()
    const allow = { name: 'Private', allowedUsers: [squatter.email] }
    const refused = await owner.send('POST', '/servers', allow)
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ path: 'allowedUsers[0]' }] } })
    const unknown = await owner.send('POST', '/servers', { ...allow, allowedUsers: ['nobody@example.com'] })
    expect(withoutRequestId(unknown.body)).toEqual(withoutRequestId(refused.body))
    const server = await owner.create('/servers', { name: 'Private' })
    const change = () => owner.send('PATCH', `/servers/${server.id}`, { allowedUsers: [squatter.email] })
    expect((await change()).status).toBe(400)
    expect(await knock(`${world.origin}/s/${server.id}`, squatter.token)).toBe(403)

    await world.db.user.update({ where: { id: squatter.userId }, data: { emailVerifiedAt: new Date() } })
    expect((await change()).status).toBe(200)
    expect(await knock(`${world.origin}/s/${server.id}`, squatter.token)).toBe(200)
  })

  it('includes members of the organization, confirmed or not, and any user by id', async () => {
    const owner = await world.person()
    const member = await world.member(owner.organizationId, 'viewer')
    const stranger = await world.person()
    const allowedUsers = [member.email, stranger.userId]
    const server = await owner.create('/servers', { name: 'Private', allowedUsers })
    expect(server).toMatchObject({ allowedUsers: [member.userId, stranger.userId] })
  })
})
