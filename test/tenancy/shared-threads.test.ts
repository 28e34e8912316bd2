import { expect, it } from 'vitest'
import { connect } from '../servers/mcp.ts'
import { type ApiClient, signUp } from '../support/api-client.ts'
import { answerJson } from '../support/fake-api.ts'
import { runFakeApi, runPatchbay } from '../support/world.ts'

const ORGANIZATIONS = 8
const ENDLESS = '($f := function($n) { $f($n + 1) }; $f(0))'

const patchbay = runPatchbay()
const fake = runFakeApi((_request, response) => answerJson(response, { name: 'one' }))

/** Creates a server of one tool with this transform, and returns a function that calls it. */
const serve = async (user: ApiClient, expression: string, organizationId?: string) => {
  const toolkit = await user.create('/toolkits', { title: 'Toolkit', organizationId })
  const server = await user.create('/servers', { name: 'Server', access: 'public', organizationId })
  await user.expectOk('PUT', `/servers/${server.id}/toolkits/${toolkit.id}`)
  const response = { transform: { language: 'jsonata', expression } }
  const tool = { name: 'tool', method: 'GET', url: `${fake.origin}/`, response }
  const { id: toolId } = await user.create(`/toolkits/${toolkit.id}/tools`, tool)
  await user.create(`/servers/${server.id}/instances`, { toolId, name: 'tool' })
  const client = await connect(`${patchbay.origin}/s/${server.id}`)
  return () => client.callTool({ name: 'tool', arguments: {} })
}

it('slow work in all organizations of one user leaves threads to the others', async () => {
  const attacker = await signUp(patchbay.origin)
  const calls: (() => Promise<unknown>)[] = []
  for (let at = 0; at < ORGANIZATIONS; at++) {
    const { id } = await attacker.create('/organizations', { name: `Organization ${at}` })
    calls.push(await serve(attacker, ENDLESS, id))
  }
  const neighbour = await serve(await signUp(patchbay.origin), 'name')
  // Starts the threads and processes in advance, because this takes longer than the transforms.
  await Promise.all(Array.from({ length: 4 }, neighbour))

  let ended = 0
  const onEnd = () => {
    ended += 1
  }
  for (const call of calls) call().then(onEnd, onEnd)
  const results = [await neighbour(), await neighbour(), await neighbour()]
  // If the organizations had threads of their own, each of these calls would wait for some of the others.
  expect(ended).toBeLessThan(4)
  expect(JSON.stringify(results)).toContain('one')
})
