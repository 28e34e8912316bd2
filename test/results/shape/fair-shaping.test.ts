import { expect, it } from 'vitest'
import { callText, connect } from '../../servers/mcp.ts'
import { type ApiClient, makeServer } from '../../support/api-client.ts'
import { casesOfRun } from '../../support/cases-of-run.ts'
import { answerJson } from '../../support/fake-api.ts'
import { startWithJobTime } from '../../support/jobs.ts'
import { during, type Person, runFakeApi, startWorld } from '../../support/world.ts'

const SERVERS = 24
const ORGANIZATIONS = 16

/** Short, but long enough for the others on a busy machine. */
const TIME_LIMIT_MS = 2_000

const patchbay = during(() => startWithJobTime('shape-result', TIME_LIMIT_MS, () => startWorld({ isOwn: true })))
let firstEnded = Promise.withResolvers<void>()
const fake = runFakeApi(async ({ url }, response) => {
  // Delays the neighbour's result until the endless expressions are running and waiting.
  if (url.startsWith('/neighbour')) await firstEnded.promise
  answerJson(response, { total: 40 })
})

const transform = (language: string, expression: string) => ({ response: { transform: { language, expression } } })
const ENDLESS = transform('jsonata', '$match("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", /(a+)+$/)')

const serveEndless = async (api: ApiClient, organizationId: string) => {
  const tool = { name: 'endless', method: 'GET', url: `${fake.origin}/endless`, ...ENDLESS }
  const { url } = await makeServer(api, [tool], { organizationId })
  return connect(url)
}

/**
 * Calls all endless tools, and after the first was stopped the tool of another organization, several times. Returns its
 * results, and how many of the endless calls had ended by then.
 */
const callBeside = async (attackers: readonly Awaited<ReturnType<typeof connect>>[]) => {
  firstEnded = Promise.withResolvers<void>()
  const neighbour = await patchbay.person()
  const tool = { name: 'total', method: 'GET', url: `${fake.origin}/neighbour`, ...transform('jmespath', 'total') }
  const client = await connect((await makeServer(neighbour, [tool])).url)
  let ended = 0
  const calls = attackers.map(async attacker => {
    // Closing the client ends the last of them.
    await attacker.callTool({ name: 'endless', arguments: {} }).catch(() => undefined)
    ended += 1
    firstEnded.resolve()
  })
  const texts: string[] = []
  for (let turn = 0; turn < 3; turn++) texts.push((await callText(client, 'total')).text)
  const endedBefore = ended
  await Promise.all([...attackers.map(attacker => attacker.close()), ...calls])
  return { texts, endedBefore }
}

const attacks = [
  {
    what: 'many servers of an organization',
    count: SERVERS,
    open: (attacker: Person) =>
      Promise.all(Array.from({ length: SERVERS }, () => serveEndless(attacker, attacker.organizationId))),
  },
  {
    what: 'many organizations of a user',
    count: ORGANIZATIONS,
    open: async (attacker: Person) => {
      const attackers = [await serveEndless(attacker, attacker.organizationId)]
      for (let at = 1; at < ORGANIZATIONS; at++) {
        const { id } = await attacker.create('/organizations', { name: `Organization ${at}` })
        attackers.push(await serveEndless(attacker, id))
      }
      return attackers
    },
  },
]

it.each(casesOfRun(attacks, (_, index) => index === 0))(
  'shapes the results of others while $what have endless expressions',
  async ({ count, open }) => {
    const { texts, endedBefore } = await callBeside(await open(await patchbay.person()))
    expect(texts).toEqual(['40', '40', '40'])
    expect(endedBefore).toBeLessThan(count / 2)
  },
  90_000,
)

it('fails only its own call with an endless expression, while other tools and servers respond', async () => {
  const builder = await patchbay.person()
  const url = `${fake.origin}/total`
  const first = await makeServer(builder, [
    { name: 'endless', method: 'GET', url, ...ENDLESS },
    { name: 'plain', method: 'GET', url },
  ])
  const second = await makeServer(builder, [{ name: 'shaped', method: 'GET', url, ...transform('jmespath', 'total') }])
  const ended = callText(await connect(first.url), 'endless')
  expect(JSON.parse((await callText(await connect(first.url), 'plain')).text)).toEqual({ total: 40 })
  expect((await callText(await connect(second.url), 'shaped')).text).toBe('40')
  expect(await ended).toEqual({
    isError: true,
    text: expect.stringMatching(/^The transform of this tool \(JSONata\) took longer than 2000 ms and was stopped/),
  })
})
