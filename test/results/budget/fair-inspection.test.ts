import { beforeEach, expect, it } from 'vitest'
import { connect } from '../../servers/mcp.ts'
import { type ApiClient, makeServer } from '../../support/api-client.ts'
import { answerJson } from '../../support/fake-api.ts'
import { runFakeApi, runPatchbay } from '../../support/world.ts'

const MANY = 14
const records = Array.from({ length: 6_000 }, (_, id) => ({
  id,
  note: `Some words about number ${id}, and more of them`,
}))
const large = JSON.stringify(records)

const ORGANIZATIONS = 10

const patchbay = runPatchbay({ isOwn: true })
let expected = MANY
let received = 0
let allReceived = Promise.withResolvers<void>()
let firstEnded = Promise.withResolvers<void>()
const fake = runFakeApi(async ({ url }, response) => {
  if (url.startsWith('/first')) return answerJson(response, { first: true })
  if (url.startsWith('/small')) {
    // Delays the small result until the large results are waiting for their inspection.
    await firstEnded.promise
    return answerJson(response, { small: true })
  }
  received += 1
  if (received === expected) allReceived.resolve()
  // Without this, most inspections could end before the last one begins.
  await allReceived.promise
  response.writeHead(200, { 'content-type': 'application/json' }).end(large)
})

beforeEach(() => {
  received = 0
  allReceived = Promise.withResolvers()
  firstEnded = Promise.withResolvers()
})

const serve = async (builder: ApiClient, organizationId: string) => {
  const tools = ['first', 'large', 'small'].map(name => ({ name, method: 'GET', url: `${fake.origin}/${name}` }))
  const { url } = await makeServer(builder, tools, { organizationId, server: { maxResponseTokens: 1_000 } })
  const client = await connect(url)
  // A fuzzy search takes long, unlike the outline of a result.
  const search = { arguments: {}, pattern: 'small', mode: 'fuzzy' }
  return (tool: string) => client.callTool({ name: 'proxy_search', arguments: { tool, ...search } })
}

type Call = Awaited<ReturnType<typeof serve>>

const serveAnother = async () => {
  const builder = await patchbay.person()
  return serve(builder, builder.organizationId)
}

/** Calls all at once, and another server while their results wait. The result is not among the last. */
const expectNoDelay = async (heavy: readonly Call[], light: Call) => {
  expected = heavy.length
  let ended = 0
  const onEnd = () => {
    ended += 1
    firstEnded.resolve()
  }
  const looks = heavy.map(call => call('large').finally(onEnd))
  const { content } = await light('small')
  // If they did not take turns, the small result would be among the last.
  expect(ended).toBeLessThan(heavy.length - 3)
  expect(JSON.stringify(content)).toContain('small')
  const all = await Promise.all(looks)
  expect(all.map(({ isError }) => isError === true)).toEqual(all.map(() => false))
}

it('many inspections of one server do not delay those of another', async () => {
  const heavy = await serveAnother()
  const light = await serveAnother()
  // Starts the pool's threads and processes in advance, because this takes longer than the inspections.
  await Promise.all([heavy, light].flatMap(call => [call('first'), call('first')]))
  await expectNoDelay(
    Array.from({ length: MANY }, () => heavy),
    light,
  )
})

it('inspections of many organizations of one user do not delay those of another user', async () => {
  const { userId, ...builder } = await patchbay.person()
  const heavy: Call[] = []
  for (let at = 0; at < ORGANIZATIONS; at++) {
    const memberships = { create: { userId, role: 'owner' as const } }
    const { id } = await patchbay.db.organization.create({ data: { name: `${at}`, creatorId: userId, memberships } })
    heavy.push(await serve(builder, id))
  }
  const light = await serveAnother()
  await Promise.all([...heavy.slice(0, 3), light].map(call => call('first')))
  await expectNoDelay(heavy, light)
})
