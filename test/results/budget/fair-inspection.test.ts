import { expect, it } from 'vitest'
import { connect } from '../../servers/mcp.ts'
import { makeServer, signUp } from '../../support/api-client.ts'
import { answerJson } from '../../support/fake-api.ts'
import { runFakeApi, runPatchbay } from '../../support/world.ts'

const MANY = 32
const records = Array.from({ length: 10_000 }, (_, id) => ({
  id,
  note: `Some words about number ${id}, and more of them`,
}))
const large = JSON.stringify(records)

const patchbay = runPatchbay()
let received = 0
const allReceived = Promise.withResolvers<void>()
const firstEnded = Promise.withResolvers<void>()
const fake = runFakeApi(async ({ url }, response) => {
  if (url.startsWith('/first')) return answerJson(response, { first: true })
  if (url.startsWith('/small')) {
    // Delays the small result until the large results are waiting for their inspection.
    await firstEnded.promise
    return answerJson(response, { small: true })
  }
  received += 1
  if (received === MANY) allReceived.resolve()
  // Without this, most inspections could end before the last one begins.
  await allReceived.promise
  response.writeHead(200, { 'content-type': 'application/json' }).end(large)
})

const serve = async () => {
  const builder = await signUp(patchbay.origin)
  const tools = ['first', 'large', 'small'].map(name => ({ name, method: 'GET', url: `${fake.origin}/${name}` }))
  const { url } = await makeServer(builder, tools, { server: { maxResponseTokens: 1_000 } })
  const client = await connect(url)
  return (tool: string) => client.callTool({ name: 'proxy_explore', arguments: { tool, arguments: {} } })
}

it('many inspections of one server do not delay those of another', async () => {
  const heavy = await serve()
  const light = await serve()
  // Starts the pool's threads and processes in advance, because this takes longer than the inspections.
  await Promise.all([heavy, light].flatMap(call => [call('first'), call('first')]))
  let ended = 0
  const onEnd = () => {
    ended += 1
    firstEnded.resolve()
  }
  const looks = Array.from({ length: MANY }, () => heavy('large').finally(onEnd))
  const { content } = await light('small')
  // If the servers did not take turns, the small result would be among the last.
  expect(ended).toBeLessThan(MANY - 3)
  expect(JSON.stringify(content)).toContain('small')
  const all = await Promise.all(looks)
  expect(all.map(({ isError }) => isError === true)).toEqual(all.map(() => false))
})
