import { beforeAll, describe, expect, it, vi } from 'vitest'
import { callTexts, connect, connectListening, findCacheId, toolNames } from '../../servers/mcp.ts'
import { makeServer } from '../../support/api-client.ts'
import { databasesOfRun } from '../../support/databases.ts'
import { type Answerer, answerJson } from '../../support/fake-api.ts'
import { createPageBrowser } from '../../support/page-browser.ts'
import { runFakeApi, runPatchbay, runUser } from '../../support/world.ts'
import { everythingCommand } from '../../upstreams/support.ts'
import { readWhenCounted } from '../ledger/token-sums.ts'

vi.setConfig({ testTimeout: 30_000 })

const CONTINUING = ['proxy_explore', 'proxy_filter', 'proxy_search']
const BUDGET = { maxResponseTokens: 1_000 }
/** A tool whose response has the requested number of items: about ten tokens each. */
const ITEMS = { few: 1, overAQuarter: 40, overTheBudget: 500 }
const DAY_MS = 86_400_000

const answer: Answerer = ({ url }, response) => {
  const { pathname, searchParams } = new URL(url, 'http://api')
  if (pathname === '/broken') response.writeHead(500).end('broken')
  else
    answerJson(
      response,
      Array.from({ length: Number(searchParams.get('count')) }, (_, id) => ({ id, name: 'Ada' })),
    )
}

const dayBefore = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)

describe.each(databasesOfRun)('the tools that continue from cut results, on $kind', kind => {
  const patchbay = runPatchbay({ kind, env: { PATCHBAY_ALLOW_STDIO: 'true' } })
  const fake = runFakeApi(answer)
  const ada = runUser(patchbay, 'operator@example.com')

  const define = (name: string) => ({ name, method: 'GET', url: `${fake.origin}/${name}?count={{integer:count=1}}` })
  const make = async (names: readonly string[], server: object = {}) => {
    const made = await makeServer(ada, names.map(define), { server: { ...BUDGET, ...server } })
    const { client, changes } = await connectListening(made.url)
    return {
      ...made,
      client,
      changes,
      list: () => toolNames(client),
      /** Calls a tool several times. */
      call: async (name: string, times: number, count = ITEMS.few) => {
        for (let index = 0; index < times; index++) await callTexts(client, name, { count })
      },
      whenCounted: (calls: number) => readWhenCounted(ada, made.serverId, calls),
      patch: (change: object) => ada.expectOk('PATCH', `/servers/${made.serverId}`, change),
    }
  }
  /** Makes a server whose only tool has proved small. */
  const makeProved = async (server: object = {}) => {
    const made = await make(['items'], server)
    const { db } = patchbay.services
    const row = { serverId: made.serverId, tool: 'items', day: dayBefore(2) }
    await db.toolDay.create({ data: { ...row, succeeded: 5, largest: 250 } })
    await patchbay.services.upkeep.run()
    return made
  }
  let person: ReturnType<typeof createPageBrowser>
  beforeAll(async () => {
    person = createPageBrowser(patchbay.origin)
    await person.submit('/sign-in', { email: ada.email, password: 'correct horse battery staple' })
  })
  const readSettings = async (serverId: string): Promise<string> =>
    (await person.get(`/servers/${serverId}/settings`)).html

  it('are no longer listed once every tool has five small responses, and can be called all the same', async () => {
    const { serverId, call, list, whenCounted, client, changes } = await make(['items', 'others'])
    await call('items', 6)
    await call('others', 4)
    await whenCounted(10)
    await patchbay.services.upkeep.run()
    expect(await list()).toEqual(['items', 'others', ...CONTINUING])
    expect(await readSettings(serverId)).toContain(
      'are listed, because others had fewer than 5 successful responses in the last 30 days.',
    )
    expect(changes).toEqual([])
    await call('others', 1)
    await whenCounted(11)
    await patchbay.services.upkeep.run()
    expect(await list()).toEqual(['items', 'others'])
    await vi.waitFor(() => expect(changes).toHaveLength(1))
    await patchbay.services.upkeep.run()
    expect((await callTexts(client, 'proxy_filter', { tool: 'items', fields: ['[].id'] })).text).toContain('"id":0')
    expect(changes).toHaveLength(1)
    expect(await readSettings(serverId)).toContain(
      'are not listed, because every tool had at least 5 responses in the last 30 days, none above a quarter of the limit.',
    )
  })

  it('stay listed after errors, or if one response took more than a quarter of the limit', async () => {
    const failing = await make(['broken'])
    await failing.call('broken', 5)
    await failing.whenCounted(5)
    const large = await make(['items'])
    await large.call('items', 5)
    await large.call('items', 1, ITEMS.overAQuarter)
    await large.whenCounted(6)
    await patchbay.services.upkeep.run()
    expect(await failing.list()).toEqual(['broken', ...CONTINUING])
    expect(await large.list()).toEqual(['items', ...CONTINUING])
    expect(await readSettings(large.serverId)).toContain('because a response of items took more than a quarter')
    // Forgotten after 30 days, like the small responses of the time before.
    await patchbay.services.db.toolDay.updateMany({ where: { serverId: large.serverId }, data: { day: dayBefore(31) } })
    await large.call('items', 4)
    await large.whenCounted(4)
    await patchbay.services.upkeep.run()
    expect(await large.list()).toEqual(['items', ...CONTINUING])
    await large.call('items', 1)
    await large.whenCounted(5)
    await patchbay.services.upkeep.run()
    expect(await large.list()).toEqual(['items'])
  })

  it('does not take part of a large result as a small one', async () => {
    const { client, list, whenCounted } = await make(['items'])
    for (let index = 0; index < 5; index++)
      await callTexts(client, 'proxy_filter', {
        tool: 'items',
        arguments: { count: ITEMS.overTheBudget },
        fields: ['[0].id'],
      })
    await whenCounted(5)
    await patchbay.services.upkeep.run()
    expect(await list()).toEqual(['items', ...CONTINUING])
  })

  it('are listed for 30 days from a cut result, at once', async () => {
    const { serverId, client, list, whenCounted } = await makeProved()
    expect(await list()).toEqual(['items'])
    const cut = await callTexts(client, 'items', { count: ITEMS.overTheBudget })
    expect(cut.text).toContain('proxy_search')
    await vi.waitFor(async () => expect(await list()).toEqual(['items', ...CONTINUING]))
    expect(await readSettings(serverId)).toContain('because a result of items was cut in the last 30 days')
    await whenCounted(1)
    const { db } = patchbay.services
    const age = async (days: number): Promise<void> => {
      await db.toolDay.updateMany({ where: { serverId, wasCut: true }, data: { day: dayBefore(days), largest: 0 } })
      await patchbay.services.upkeep.run()
    }
    await age(30)
    expect(await list()).toEqual(['items', ...CONTINUING])
    await age(31)
    expect(await list()).toEqual(['items'])
  })

  it('are listed from the next cut result if the first could not be recorded', async () => {
    const { client, list } = await makeProved()
    expect(await list()).toEqual(['items'])
    const commit = vi.spyOn(patchbay.services.changes, 'commit').mockRejectedValueOnce(new Error('The disk is full.'))
    await callTexts(client, 'items', { count: ITEMS.overTheBudget })
    await vi.waitFor(() => expect(commit).toHaveBeenCalled())
    commit.mockRestore()
    expect(await list()).toEqual(['items'])
    await callTexts(client, 'items', { count: ITEMS.overTheBudget })
    await vi.waitFor(async () => expect(await list()).toEqual(['items', ...CONTINUING]))
  })

  it('count towards the limit of a flat list even while they are not listed', async () => {
    const { list, client, patch } = await makeProved({ presentation: 'auto', maxFlatTokens: 300 })
    expect(await list()).toEqual(['call_tool', 'find_tools'])
    await patch({ maxFlatTokens: 2_000 })
    expect(await list()).toEqual(['items'])
    await callTexts(client, 'items', { count: ITEMS.overTheBudget })
    await vi.waitFor(async () => expect(await list()).toEqual(['items', ...CONTINUING]))
    await patch({ maxFlatTokens: 300, cutResultTools: 'never' })
    expect(await list()).toEqual(['items'])
  })

  it('count the responses that a builder gets in the tool editor', async () => {
    const { serverId, toolIds, list } = await make(['items'])
    const send = (count: number) => ada.expectOk('POST', `/tools/${toolIds.items}/test`, { arguments: { count } })
    expect(await list()).toEqual(['items', ...CONTINUING])
    const changed: string[] = []
    patchbay.services.bus.subscribe('server_changed', event => void changed.push(event.serverId))
    for (let index = 0; index < 4; index++) await send(ITEMS.few)
    // A change would empty the cache of the server's responses.
    expect(changed).not.toContain(serverId)
    expect(await list()).toEqual(['items', ...CONTINUING])
    await person.get(`/tools/${toolIds.items}`)
    const sendDraft = async (url: string): Promise<void> => {
      const sent = await person.submit('/tool-send', { ...define('items'), url, tool: toolIds.items ?? '' })
      expect(sent.html).toContain('200 OK')
    }
    const { url } = define('items')
    // Unsaved changes prove nothing about the saved tool.
    await sendDraft(`${url}&limit=1`)
    expect(await list()).toEqual(['items', ...CONTINUING])
    await sendDraft(url)
    expect(await list()).toEqual(['items'])
    await ada.expectOk('PATCH', `/tools/${toolIds.items}`, { title: 'Items' })
    expect(await list()).toEqual(['items'])
    await ada.expectOk('PATCH', `/tools/${toolIds.items}`, { url: `${url}&limit=2` })
    expect(await list()).toEqual(['items', ...CONTINUING])
    for (let index = 0; index < 5; index++) await send(ITEMS.few)
    expect(await list()).toEqual(['items'])
    await send(ITEMS.overAQuarter)
    expect(await list()).toEqual(['items', ...CONTINUING])
  })

  it('are listed as soon as an MCP server is attached', async () => {
    const { serverId, list } = await makeProved()
    expect(await list()).toEqual(['items'])
    const { id } = await ada.create(`/servers/${serverId}/upstreams`, { name: 'every', ...everythingCommand() })
    await ada.expectOk('POST', `/upstreams/${id}/refresh`)
    expect(await list()).toEqual(expect.arrayContaining(CONTINUING))
    expect(await readSettings(serverId)).toContain('because a response of an attached MCP server can have any size')
  })

  it('are listed always or never, if a builder chooses so', async () => {
    const { serverId, list, patch, client } = await makeProved({ cutResultTools: 'always' })
    expect(await list()).toEqual(['items', ...CONTINUING])
    const path = `/servers/${serverId}/settings`
    await person.get(path)
    const fields = { maxResponseTokens: '1000', cutNotice: '' }
    const wrong = await person.submit(path, { ...fields, cutResultTools: 'seldom' })
    expect(wrong.html).toContain('The listing of the tools for cut results must be an option from the list.')
    await person.submit(path, { ...fields, cutResultTools: 'never' })
    expect((await person.get(path)).html).toMatch(/<option value="never" selected>Never/)
    expect((await person.get(path)).html).toContain('are not listed, as chosen.')
    const cut = await callTexts(client, 'items', { count: ITEMS.overTheBudget })
    const explored = await callTexts(client, 'proxy_explore', { cache_id: findCacheId(cut.text) })
    expect([explored.isError, await list()]).toEqual([false, ['items']])
    await patch({ cutResultTools: 'auto', maxResponseTokens: 0 })
    expect(await readSettings(serverId)).toContain('are not listed, because no result has a limit.')
  })

  it('are not listed if the only tool has an output schema, because its results are never cut', async () => {
    const declared = { ...define('items'), outputSchema: { type: 'object' } }
    const { serverId, url } = await makeServer(ada, [declared], { server: BUDGET })
    expect(await toolNames(await connect(url))).toEqual(['items'])
    expect(await readSettings(serverId)).toContain('are not listed, because no result has a limit.')
  })

  it('are not listed on the sample server, which is known to be small', async () => {
    const { url } = await makeServer(ada, [...patchbay.services.sample.tools], { server: BUDGET })
    const client = await connect(url)
    expect(await toolNames(client)).toEqual(['convert_currency', 'echo', 'get_contact', 'search_contacts'])
  })

  it('form a group that is not listed, but can be called', async () => {
    const { client } = await makeProved({ presentation: 'grouped' })
    const { tools } = await client.listTools()
    expect(tools.find(({ name }) => name === 'get_dynamic_tools')?.description).not.toContain('answers')
    const args = { group: 'Toolkit', tool: 'items', fields: ['[].id'] }
    const found = await callTexts(client, 'call_dynamic_tool', { group: 'answers', name: 'proxy_filter', args })
    expect([found.isError, found.text]).toEqual([false, expect.stringContaining('"id":0')])
  })
})
