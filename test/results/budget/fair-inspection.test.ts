import { expect, it } from 'vitest'
import { connect } from '../../servers/mcp.ts'
import { makeServer, signUp } from '../../support/api-client.ts'
import { answerJson } from '../../support/fake-api.ts'
import { runFakeApi, runPatchbay } from '../../support/world.ts'

const MANY = 12
const records = Array.from({ length: 30_000 }, (_, id) => ({
  id,
  note: `Some words about number ${id}, and more of them`,
}))
const large = JSON.stringify(records)

const patchbay = runPatchbay()
let sent = 0
const fake = runFakeApi(({ url }, response) => {
  if (url.startsWith('/small')) return answerJson(response, { small: true })
  response.on('finish', () => sent++)
  response.writeHead(200, { 'content-type': 'application/json' }).end(large)
})

const serve = async (email: string) => {
  const builder = await signUp(patchbay.origin, email)
  const tools = ['large', 'small'].map(name => ({ name, method: 'GET', url: `${fake.origin}/${name}` }))
  const { url } = await makeServer(builder, tools, { server: { maxResponseTokens: 1_000 } })
  const client = await connect(url)
  return (tool: string) => client.callTool({ name: 'proxy_explore', arguments: { tool, arguments: {} } })
}

it('many inspections of one server do not delay those of another', async () => {
  const heavy = await serve('heavy@example.com')
  const light = await serve('light@example.com')
  let ended = 0
  const looks = Array.from({ length: MANY }, () => heavy('large').finally(() => ended++))
  await expect.poll(() => sent, { timeout: 30_000 }).toBe(MANY)
  const { content } = await light('small')
  expect(ended).toBeLessThan(MANY / 2)
  expect(JSON.stringify(content)).toContain('small')
  const all = await Promise.all(looks)
  expect(all.map(({ isError }) => isError === true)).toEqual(all.map(() => false))
})
