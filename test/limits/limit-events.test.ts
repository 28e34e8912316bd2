import { beforeAll, describe, expect, it } from 'vitest'
import { databasesOfRun } from '../support/databases.ts'
import { type Person, runFakeApi } from '../support/world.ts'
import { startReceiver, verify } from '../webhooks/receiver.ts'
import { addWebhook, runDelivering } from '../webhooks/webhooks-world.ts'
import { callTool, limitsOf, makeLimitedServer } from './limits-world.ts'

const TYPES = ['limit.warning', 'limit.reached', 'toolkit.changed']

describe.each(databasesOfRun)('the events of a limit, on $kind', kind => {
  const world = runDelivering(kind)
  const api = runFakeApi()
  beforeAll(() => world.services.deliverer.start())

  /** Adds a webhook. Returns a function that resolves with the events it has received, once there are this many. */
  const listen = async (owner: Person) => {
    const receiver = await startReceiver()
    const { secret } = await addWebhook(owner, receiver.url, TYPES)
    return async (count: number) => (await receiver.received(count)).map(request => verify(request, secret))
  }

  it('tell that 80% and all of a quota is used, once in its period', async () => {
    const owner = await world.person()
    const { url } = await makeLimitedServer(owner, api.origin)
    const events = await listen(owner)
    const calls = { scope: 'user', unit: 'calls', period: 'month', amount: 5 }
    const { id } = await owner.create(limitsOf(owner), calls)
    const path = `${limitsOf(owner)}/${id}`
    const call = async (times: number): Promise<void> => {
      for (let at = 0; at < times; at++) await callTool(url, owner.token)
      // Reading the uses stores those that this process has counted.
      await owner.expectOk('GET', path)
    }
    await call(4)
    const data = {
      limitId: id,
      targetId: owner.userId,
      ...calls,
      resetsAt: expect.stringMatching(/-01T00:00:00.000Z$/),
    }
    const [warning] = await events(1)
    expect(warning).toMatchObject({ type: 'limit.warning', data: { ...data, used: 4 } })
    await call(1)
    const [, reached] = await events(2)
    expect(reached).toMatchObject({ type: 'limit.reached', data: { ...data, used: 5 } })

    await owner.expectOk('PATCH', path, { amount: 10 })
    await call(3)
    await call(2)
    const toolkit = await owner.create('/toolkits', { title: 'Later' })
    await owner.expectOk('PATCH', `/toolkits/${toolkit.id}`, { title: 'Later still' })
    expect((await events(3)).map(({ type }) => type)).toEqual(['limit.warning', 'limit.reached', 'toolkit.changed'])
  })

  it('give money in the currency of the prices', async () => {
    const owner = await world.person()
    const { url } = await makeLimitedServer(owner, api.origin, [{ name: 'tool', callPrice: 0.25 }])
    const events = await listen(owner)
    await owner.create(limitsOf(owner), { scope: 'organization', unit: 'money', period: 'day', amount: 0.5 })
    for (let at = 0; at < 2; at++) await callTool(url, owner.token)
    const [event] = await events(1)
    expect(event?.data).toMatchObject({ scope: 'organization', targetId: null, unit: 'money', amount: 0.5 })
  })
})
