import { beforeAll, expect, it } from 'vitest'
import { anyDatabase, during, organizationsOf } from '../support/world.ts'
import { startOAuthFake } from '../upstreams/oauth-fake.ts'
import { attach, callServer, leavingLink, makePerson, startConnecting } from '../upstreams/oauth-support.ts'
import { startReceiver, verify } from './receiver.ts'
import { addWebhook, runDelivering } from './webhooks-world.ts'

const fake = during(() => startOAuthFake())
const patchbay = runDelivering(anyDatabase)
const owner = during(() => makePerson(patchbay.origin, 'front@example.com'))
beforeAll(() => patchbay.services.deliverer.start())

it('an event tells once that a connected account must be reconnected', async () => {
  const [{ id: organizationId } = { id: '' }] = await organizationsOf(owner)
  const receiver = await startReceiver()
  const types = ['upstream_account.disconnected', 'toolkit.changed']
  const { secret } = await addWebhook({ ...owner, organizationId }, receiver.url, types)
  const { serverId, upstreamId, url } = await attach(owner, fake.url, { type: 'oauth' })
  await owner.visitor.get(fake.agree(leavingLink(await startConnecting(owner.visitor, upstreamId))))
  expect((await callServer(url, owner.token, 'back_whoami')).isError).not.toBe(true)

  fake.endAccess()
  fake.behave({ renewal: { status: 400, body: { error: 'invalid_grant' } } })
  for (let call = 1; call <= 2; call++) {
    expect((await callServer(url, owner.token, 'back_whoami')).text).toContain('must reconnect it')
  }
  const [request] = await receiver.received(1)
  expect(request && verify(request, secret)).toMatchObject({
    type: 'upstream_account.disconnected',
    organizationId,
    data: { serverId, upstreamId, upstreamName: 'back', userId: null },
  })
  const toolkit = await owner.create('/toolkits', { title: 'Later' })
  await owner.expectOk('PATCH', `/toolkits/${toolkit.id}`, { title: 'Later still' })
  const [, later] = await receiver.received(2)
  expect(later && verify(later, secret).type).toBe('toolkit.changed')
})
