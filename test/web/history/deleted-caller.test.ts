import { expect, it } from 'vitest'
import { z } from 'zod'
import { makeServer } from '../../support/api-client.ts'
import { signInToPages } from '../../support/signed-in.ts'
import { runFakeApi, runPatchbay } from '../../support/world.ts'

const Calls = z.object({ items: z.array(z.object({ id: z.string(), caller: z.string() })) })

const world = runPatchbay()
const fake = runFakeApi()

it('the history keeps the calls of a deleted user without their name', async () => {
  const owner = await world.person()
  const caller = await world.member(owner.organizationId, 'builder')
  const { serverId, instanceIds } = await makeServer(owner, [{ name: 'tool', method: 'GET', url: `${fake.origin}/` }])
  await caller.expectOk('POST', `/instances/${instanceIds.tool}/call`, { arguments: {} })
  const listCalls = async () => Calls.parse((await owner.expectOk('GET', `/servers/${serverId}/executions`)).body).items
  const [call] = await listCalls()
  const browser = await signInToPages(world.origin, owner.email)
  const page = `/servers/${serverId}/history/${call?.id}`
  expect((await browser.get(page)).html).toContain(caller.email)

  const organizations = { [caller.organizationId]: 'remove' }
  await caller.expectOk('DELETE', '/me', { password: 'correct horse battery staple', organizations })

  const { status, html } = await browser.get(page)
  expect(status).toBe(200)
  expect(html).not.toContain(caller.email)
  expect(await listCalls()).toEqual([{ id: call?.id, caller: caller.userId }])
})
