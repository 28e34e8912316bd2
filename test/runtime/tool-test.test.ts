import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { makeServer, signUp } from '../support/api-client.ts'
import { startTestApp } from '../support/app.ts'
import { echo, startFakeApi } from '../support/fake-api.ts'

it.each(['private', 'public'])(
  'a tool of a %s toolkit is not tested with the globals of another organization, though one belongs to both',
  async visibility => {
    const patchbay = await startTestApp()
    const fake = await startFakeApi(echo)
    onTestFinished(async () => {
      await patchbay.close()
      await fake.close()
    })
    const { db } = patchbay.services
    const builder = await signUp(patchbay.origin)
    const other = await signUp(patchbay.origin)
    const tool = { name: 'tool', method: 'GET', url: `${fake.origin}/?key={{key}}` }
    const { toolIds, toolkitId, serverId } = await makeServer(builder, [tool])
    await builder.expectOk('PATCH', `/toolkits/${toolkitId}`, { visibility })
    const theirs = await other.create('/servers', { name: 'Theirs', access: 'organization' })
    await other.expectOk('PUT', `/servers/${theirs.id}/globals/key`, { value: 'their-secret', secret: true })
    const secret = { value: 'our-secret', secret: true, origins: [fake.origin] }
    await builder.expectOk('PUT', `/servers/${serverId}/globals/key`, secret)
    const { organizationId } = await db.membership.findFirstOrThrow({ where: { userId: other.userId } })
    await db.membership.create({ data: { organizationId, userId: builder.userId, role: 'builder' } })

    const refused = await builder.send('POST', `/tools/${toolIds.tool}/test`, { arguments: {}, serverId: theirs.id })
    expect(refused.status).toBe(404)
    expect(fake.seen).toEqual([])
    await builder.expectOk('POST', `/tools/${toolIds.tool}/test`, { arguments: {}, serverId })
    expect(fake.seen).toMatchObject([{ url: '/?key=our-secret' }])
  },
)

it('the request shown after testing a tool has its secrets masked in the URL, the headers and the body', async () => {
  const patchbay = await startTestApp()
  const fake = await startFakeApi(echo)
  onTestFinished(async () => {
    await patchbay.close()
    await fake.close()
  })
  const builder = await signUp(patchbay.origin)
  const tool = {
    name: 'tool',
    method: 'POST',
    url: `${fake.origin}/?key={{key}}`,
    headers: [{ name: 'x-key', value: '{{key}}' }],
    body: '{"key":"{{key}}"}',
  }
  const { toolIds, serverId } = await makeServer(builder, [tool])
  const secret = { value: 'our-secret', secret: true, origins: [fake.origin] }
  await builder.expectOk('PUT', `/servers/${serverId}/globals/key`, secret)
  const { body } = await builder.expectOk('POST', `/tools/${toolIds.tool}/test`, { arguments: {}, serverId })
  expect(fake.seen).toMatchObject([{ url: '/?key=our-secret' }])
  const { request, curl } = z
    .object({ request: z.object({ url: z.string(), body: z.string() }), curl: z.string() })
    .parse(body)
  expect(request.url).not.toContain('our-secret')
  expect(request.body).toMatch(/^\{"key":"/)
  expect(request.body).not.toContain('our-secret')
  expect(curl).not.toContain('our-secret')
})
