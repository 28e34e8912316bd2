import type { ServerResponse } from 'node:http'
import { expect, it } from 'vitest'
import { connect } from '../servers/mcp.ts'
import { type ApiClient, signUp } from '../support/api-client.ts'
import { answerJson } from '../support/fake-api.ts'
import { runFakeApi, runPatchbay } from '../support/world.ts'

const ORGANIZATIONS = 3
const CALLS = 30

const held: ServerResponse[] = []
const patchbay = runPatchbay()
const fake = runFakeApi(({ url }, response) => {
  if (url === '/held') held.push(response)
  else answerJson(response, { name: 'one' })
})

/** Creates a server of one tool that requests this path, and returns a function that calls it. */
const serve = async (user: ApiClient, path: string, organizationId?: string) => {
  const toolkit = await user.create('/toolkits', { title: 'Toolkit', organizationId })
  const server = await user.create('/servers', { name: 'Server', access: 'public', organizationId })
  await user.expectOk('PUT', `/servers/${server.id}/toolkits/${toolkit.id}`)
  const { id: toolId } = await user.create(`/toolkits/${toolkit.id}/tools`, {
    name: 'tool',
    method: 'GET',
    url: `${fake.origin}${path}`,
  })
  await user.create(`/servers/${server.id}/instances`, { toolId, name: 'tool' })
  const client = await connect(`${patchbay.origin}/s/${server.id}`)
  return async () => JSON.stringify(await client.callTool({ name: 'tool', arguments: {} }))
}

it('calls in all organizations of one user share 64 connections to an origin', async () => {
  const attacker = await signUp(patchbay.origin)
  const results: Promise<string>[] = []
  for (let at = 0; at < ORGANIZATIONS; at++) {
    const { id } = await attacker.create('/organizations', { name: `Organization ${at}` })
    const call = await serve(attacker, '/held', id)
    for (let count = 0; count < CALLS; count++) results.push(call())
  }
  await expect.poll(() => held.length).toBeGreaterThanOrEqual(64)
  // The others get no connection, and say why.
  const refused = await Promise.any(results)
  expect(refused).toContain('64 requests of the organizations that one user created')
  const neighbour = await serve(await signUp(patchbay.origin), '/quick')
  expect(await neighbour()).toContain('one')
  expect(held).toHaveLength(64)
  for (const response of held) answerJson(response, { name: 'held' })
  const all = await Promise.all(results)
  expect(all.filter(result => result.includes('held'))).toHaveLength(64)
})
