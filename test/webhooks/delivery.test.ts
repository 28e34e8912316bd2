import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { enterEvents } from '../../src/outbox/outbox.store.ts'
import { makeServer } from '../support/api-client.ts'
import { databaseKinds } from '../support/databases.ts'
import { startWorld } from '../support/world.ts'
import { accept, startReceiver, verify } from './receiver.ts'
import { addWebhook, runDelivering, settledDeliveriesOf } from './webhooks-world.ts'

describe.each(databaseKinds)('webhooks on $kind', kind => {
  const patchbay = runDelivering(kind, { hasMail: true })
  beforeAll(() => patchbay.services.deliverer.start())

  /** Resolves with the next email to this person about a disabled webhook. */
  const nextNotice = async ({ email }: { email: string }): Promise<string> => {
    for (;;) {
      const { to, headers, text } = await patchbay.smtp.next()
      if (to.includes(email) && headers.includes('webhook')) return text
    }
  }

  it('sends a change of a server, signed as Standard Webhooks define', async () => {
    const owner = await patchbay.person()
    const receiver = await startReceiver()
    const { id, secret } = await addWebhook(owner, receiver.url, ['server.changed'])
    const server = await owner.create('/servers', { name: 'Weather' })
    const [request] = await receiver.received(1)
    if (request === undefined) throw new Error('nothing was received')
    expect(verify(request, secret)).toMatchObject({
      type: 'server.changed',
      organizationId: owner.organizationId,
      data: { serverId: server.id, serverName: 'Weather', change: 'changed' },
    })
    expect(await settledDeliveriesOf(owner, id)).toMatchObject([{ state: 'delivered', attempts: 1, lastStatus: 204 }])
  })

  it('sends only the events that the webhook chose, and only those of its organization', async () => {
    const owner = await patchbay.person()
    const other = await patchbay.person()
    const receiver = await startReceiver()
    const { secret } = await addWebhook(owner, receiver.url, ['toolkit.changed'])
    await other.create('/toolkits', { title: 'Theirs' })
    await owner.create('/servers', { name: 'Not chosen' })
    const toolkit = await owner.create('/toolkits', { title: 'Ours' })
    await owner.expectOk('PATCH', `/toolkits/${toolkit.id}`, { title: 'Ours, renamed' })
    await owner.expectOk('DELETE', `/toolkits/${toolkit.id}`)
    const received = (await receiver.received(2)).map(request => verify(request, secret).data)
    expect(received.map(({ toolkitId }) => toolkitId)).toEqual([toolkit.id, toolkit.id])
    expect(received.map(({ change }) => change).sort()).toEqual(['changed', 'removed'])
  })

  it('tells that a secret was set, without its value', async () => {
    const owner = await patchbay.person()
    const receiver = await startReceiver()
    const { secret } = await addWebhook(owner, receiver.url, ['secret.changed', 'server.changed'])
    const server = await owner.create('/servers', { name: 'Weather' })
    await owner.expectOk('PUT', `/servers/${server.id}/globals/api_key`, { value: 'canary-value', secret: true })
    const requests = await receiver.received(3)
    const events = requests.map(request => verify(request, secret))
    expect(events.find(({ type }) => type === 'secret.changed')?.data).toEqual({
      serverId: server.id,
      serverName: 'Weather',
      key: 'api_key',
      change: 'set',
    })
    expect(requests.map(({ body }) => body).join()).not.toContain('canary-value')
  })

  it('tries again with the same id until the receiver accepts, and shows the last response', async () => {
    const owner = await patchbay.person()
    const receiver = await startReceiver(response => void response.writeHead(500).end('out of order'))
    const { id, secret } = await addWebhook(owner, receiver.url, ['server.changed'])
    await owner.create('/servers', { name: 'Weather' })
    await receiver.received(1)
    receiver.answerWith(accept)
    const [first, second] = (await receiver.received(2)).map(request => verify(request, secret).id)
    expect(second).toBe(first)
    expect(await settledDeliveriesOf(owner, id)).toMatchObject([{ state: 'delivered', lastError: null }])
  })

  it('does not follow a redirect, and refuses an internal address', async () => {
    const owner = await patchbay.person()
    const target = await startReceiver()
    const receiver = await startReceiver(response => void response.writeHead(307, { location: target.url }).end())
    const redirected = await addWebhook(owner, receiver.url, ['server.changed'])
    const internal = await addWebhook(owner, 'http://169.254.169.254/hooks', ['server.changed'])
    await owner.create('/servers', { name: 'Weather' })
    const [delivery] = await settledDeliveriesOf(owner, redirected.id)
    expect(delivery).toMatchObject({ state: 'failed', lastStatus: 307 })
    expect(delivery?.lastError).toContain('Redirects are not followed')
    const [blocked] = await settledDeliveriesOf(owner, internal.id)
    expect(blocked).toMatchObject({ state: 'failed', lastStatus: null })
    expect(blocked?.lastError).toContain('cloud metadata address')
    expect(target.requests).toEqual([])
  })

  it('does not read a long response to its end', async () => {
    const owner = await patchbay.person()
    const receiver = await startReceiver(response => void response.writeHead(200).end('x'.repeat(100_000)))
    const { id } = await addWebhook(owner, receiver.url, ['server.changed'])
    await owner.create('/servers', { name: 'Weather' })
    const [delivery] = await settledDeliveriesOf(owner, id)
    expect(delivery).toMatchObject({ state: 'failed', lastError: 'Its response is longer than 64 KiB.' })
  })

  it('waits while the organization is suspended', async () => {
    const owner = await patchbay.person()
    const receiver = await startReceiver()
    const { id } = await addWebhook(owner, receiver.url, ['server.changed'])
    const { suspensionService: suspensions } = patchbay.services
    const { organizationId } = owner
    await suspensions.suspend(undefined, 'organization', organizationId, { reason: 'Spam' })
    const data = { serverId: id, serverName: 'Weather', change: 'changed' } as const
    await enterEvents(patchbay.db, [{ organizationId, type: 'server.changed', data }])
    await vi.waitUntil(() => patchbay.db.delivery.findFirst({ where: { webhookId: id } }), { interval: 10 })
    expect(receiver.requests).toEqual([])
    await suspensions.restore(undefined, 'organization', organizationId)
    await receiver.received(1)
    expect(await settledDeliveriesOf(owner, id)).toMatchObject([{ state: 'delivered', attempts: 1 }])
  })

  it('is not held up by a receiver that hangs', async () => {
    const owner = await patchbay.person()
    const hanging = await startReceiver(() => undefined)
    await addWebhook(owner, hanging.url, ['server.changed'])
    const receiver = await startReceiver()
    const { id } = await addWebhook(owner, receiver.url, ['server.changed'])
    await owner.create('/servers', { name: 'First' })
    await hanging.received(1)
    await owner.create('/servers', { name: 'Second' })
    await receiver.received(2)
    expect(await settledDeliveriesOf(owner, id, 2)).toMatchObject([{ state: 'delivered' }, { state: 'delivered' }])
  })

  it('signs with the old secret too after a new one was made', async () => {
    const owner = await patchbay.person()
    const receiver = await startReceiver()
    const { id, secret } = await addWebhook(owner, receiver.url, ['server.changed'])
    const { body } = await owner.expectOk('POST', `/webhooks/${id}/secret`)
    const renewed = String(Object.values(body ?? {})[0])
    expect(renewed).not.toBe(secret)
    await owner.expectOk('POST', `/webhooks/${id}/test`)
    const [request] = await receiver.received(1)
    if (request === undefined) throw new Error('nothing was received')
    for (const valid of [secret, renewed]) expect(verify(request, valid).type).toBe('webhook.test')
    expect(() => verify(request, 'whsec_bm90IHRoZSBzZWNyZXQgb2YgdGhpcyB3ZWJob29r')).toThrow()
  })

  it('delivers each event once when several processes share the database', async () => {
    const owner = await patchbay.person()
    const receiver = await startReceiver()
    const { id } = await addWebhook(owner, receiver.url, ['toolkit.changed'])
    const another = await patchbay.another()
    another.services.deliverer.start()
    try {
      const toolkit = await owner.create('/toolkits', { title: 'Ours' })
      for (let at = 0; at < 20; at++) {
        await owner.expectOk('PATCH', `/toolkits/${toolkit.id}`, { title: `Ours ${at}` })
      }
      await settledDeliveriesOf(owner, id, 20)
    } finally {
      await another.close()
    }
    const ids = receiver.requests.map(({ headers }) => headers['webhook-id'])
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.length).toBeGreaterThanOrEqual(20)
  })

  it('disables a webhook that fails lastingly and tells the owner, who enables it and replays what it missed', async () => {
    const owner = await patchbay.person()
    const receiver = await startReceiver(response => void response.writeHead(500).end())
    const { id, secret } = await addWebhook(owner, receiver.url, ['server.changed'])
    await owner.create('/servers', { name: 'Weather' })
    expect(await nextNotice(owner)).toContain('No event could be delivered')
    expect((await owner.expectOk('GET', `/webhooks/${id}`)).body).toMatchObject({ state: 'disabled' })
    const [failed] = await settledDeliveriesOf(owner, id)
    expect(failed).toMatchObject({ state: 'failed', attempts: 3, lastStatus: 500 })
    expect(await patchbay.auditOf(owner.organizationId)).toContain('webhook.disabled')

    receiver.answerWith(accept)
    expect((await owner.send('POST', `/deliveries/${failed?.id}/replay`)).status).toBe(409)
    await owner.expectOk('PATCH', `/webhooks/${id}`, { state: 'active' })
    await owner.expectOk('POST', `/deliveries/${failed?.id}/replay`)
    const replayed = (await receiver.received(4)).at(-1)
    expect(replayed && verify(replayed, secret).id).toBe(failed?.eventId)
    expect(await settledDeliveriesOf(owner, id)).toMatchObject([{ state: 'delivered' }])
  })

  it('disables a webhook whose receiver says that it is gone', async () => {
    const owner = await patchbay.person()
    const receiver = await startReceiver(response => void response.writeHead(410).end())
    const { id } = await addWebhook(owner, receiver.url, ['server.changed'])
    await owner.create('/servers', { name: 'Weather' })
    await nextNotice(owner)
    expect((await owner.expectOk('GET', `/webhooks/${id}`)).body).toMatchObject({
      state: 'disabled',
      disabledReason: 'The receiver responded with the status 410 (Gone).',
    })
  })

  it('tells that a call failed, with the error that the caller got', async () => {
    const owner = await patchbay.person()
    const api = await startReceiver(response => void response.writeHead(503).end('canary-secret'))
    const tool = { name: 'report', method: 'GET', url: `${api.url}?key={{key}}` }
    const bindings = { report: { key: { source: 'server' } } }
    const made = await makeServer(owner, [tool], { bindings })
    const global = { value: 'canary-secret', secret: true, origins: [new URL(api.url).origin] }
    await owner.expectOk('PUT', `/servers/${made.serverId}/globals/key`, global)
    const receiver = await startReceiver()
    const { secret } = await addWebhook(owner, receiver.url, ['call.failed'])
    await owner.expectOk('POST', `/instances/${made.instanceIds.report}/call`, { arguments: {} })
    const [request] = await receiver.received(1)
    if (request === undefined) throw new Error('nothing was received')
    const { type, data } = verify(request, secret)
    expect(type).toBe('call.failed')
    expect(data).toMatchObject({ serverId: made.serverId, tool: 'report', result: 'failed', status: 503 })
    expect(request.body).not.toContain('canary-secret')
  })

  it('enters no event for a change that is refused', async () => {
    const owner = await patchbay.person()
    const receiver = await startReceiver()
    const { id } = await addWebhook(owner, receiver.url, ['server.changed', 'toolkit.changed'])
    const server = await owner.create('/servers', { name: 'Weather' })
    const viewer = await patchbay.member(owner.organizationId, 'viewer')
    expect((await viewer.send('PATCH', `/servers/${server.id}`, { name: 'Mine' })).status).toBe(403)
    await owner.expectOk('POST', `/webhooks/${id}/test`)
    await receiver.received(2)
    expect((await settledDeliveriesOf(owner, id, 2)).map(({ type }) => type)).toEqual([
      'webhook.test',
      'server.changed',
    ])
  })
})

it('keeps events in the outbox until a process delivers them', async () => {
  const patchbay = await startWorld({ isOwn: true })
  onTestFinished(patchbay.close)
  const owner = await patchbay.person()
  const receiver = await startReceiver()
  const { secret } = await addWebhook(owner, receiver.url, ['server.changed'])
  await owner.create('/servers', { name: 'Weather' })
  const another = await patchbay.another()
  onTestFinished(another.close)
  another.services.deliverer.start()
  const [request] = await receiver.received(1)
  expect(request && verify(request, secret).data).toMatchObject({ serverName: 'Weather' })
})
