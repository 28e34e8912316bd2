import { describe, expect, it } from 'vitest'
import { databaseKinds } from '../../support/databases.ts'
import { buildExecution } from '../execution.ts'
import { NOON, readAllCalls, readCalls, refusalOf, runCallsWorld, secondsBeforeNoon } from './calls-world.ts'

describe.each(databaseKinds)('the calls of an organization on $kind', kind => {
  const world = runCallsWorld(kind)
  const pathOf = (organizationId: string, query = '') => `/organizations/${organizationId}/executions?${query}`

  it('are listed newest first across its servers, and each once', async () => {
    const owner = await world.person()
    const organizationId = owner.organizationId
    const made = await Promise.all(
      ['a', 'b'].map(async name => (await owner.create('/servers', { name, organizationId })).id),
    )
    const [first = '', second = ''] = made
    const a = await world.addCalls(first, 5, () => ({ organizationId }))
    const b = await world.addCalls(second, 5, () => ({ organizationId }))
    const { ids } = await readAllCalls(owner, pathOf(organizationId, 'limit=3'))
    const newestFirst = a.flatMap((id, index) => [id, b[index] ?? '']).map(String)
    expect(ids.toSorted()).toEqual(newestFirst.toSorted())
    const page = await readCalls(owner, pathOf(organizationId, 'limit=10'))
    const times = page.items.map(({ startedAt }) => startedAt)
    expect(times).toEqual(times.toSorted().toReversed())
    expect((await readCalls(owner, pathOf(organizationId, `server=${first}`))).items.map(({ id }) => id)).toEqual(a)
  })

  it('are shown only as far as a member may see them on their servers', async () => {
    const owner = await world.person()
    const { organizationId } = owner
    const [admin, allowed, viewer] = await Promise.all([
      world.member(organizationId, 'admin'),
      world.member(organizationId, 'viewer'),
      world.member(organizationId, 'viewer'),
    ])
    const open = (await owner.create('/servers', { name: 'Open', access: 'organization', organizationId })).id
    const closed = (
      await owner.create('/servers', {
        name: 'Closed',
        access: 'private',
        allowedUsers: [allowed.userId],
        organizationId,
      })
    ).id
    const inOpen = await world.addCalls(open, 1, () => ({ organizationId }))
    const [own = '', others = ''] = await world.addCalls(closed, 2, index => ({
      organizationId,
      userId: index === 0 ? allowed.userId : owner.userId,
    }))
    const seenBy = async (person: typeof owner, query = '') =>
      (await readAllCalls(person, pathOf(organizationId, `limit=50&${query}`))).ids.toSorted()
    const all = [...inOpen, own, others].toSorted()
    expect(await seenBy(owner)).toEqual(all)
    expect(await seenBy(admin)).toEqual(all)
    expect(await seenBy(allowed)).toEqual([...inOpen, own].toSorted())
    expect(await seenBy(viewer)).toEqual(inOpen)
    expect(await seenBy(allowed, `server=${closed}`)).toEqual([own])
    expect(await seenBy(allowed, `server=${closed}&caller=${owner.userId}`)).toEqual([])
    expect(await seenBy(viewer, `server=${closed}`)).toEqual([])
    const stranger = await world.person()
    expect((await stranger.send('GET', pathOf(organizationId))).status).toBe(404)
  })

  it('leave out a server that has moved away or been deleted', async () => {
    const server = await world.server()
    await world.addCalls(server, 1)
    const elsewhere = await world.person()
    await world.db.server.update({ where: { id: server }, data: { organizationId: elsewhere.organizationId } })
    const { items } = await readCalls(world.owner, pathOf(world.organizationId, `server=${server}`))
    expect(items).toEqual([])
  })
})

describe.each(databaseKinds)('the filters of calls on $kind', kind => {
  const world = runCallsWorld(kind)

  const idsOf = async (serverId: string, query: string) =>
    (await readAllCalls(world.owner, `/servers/${serverId}/executions?limit=50&${query}`)).ids

  it('select calls by each column, by several values, and together', async () => {
    const server = await world.server()
    const ada = await world.silentMember(world.organizationId, 'viewer')
    const [ok = '', missing = '', broken = '', slow = ''] = await world.addCalls(
      server,
      4,
      index =>
        [
          { tool: 'get_weather', client: 'claude/1.0', userId: ada },
          { tool: 'add', client: 'claude/2.0', status: 404, outcome: 'error' as const, result: 'rejected' as const },
          { tool: 'add', client: 'claude', status: 503, outcome: 'error' as const, result: 'failed' as const },
          { tool: 'Ünï', client: 'claude-code/1', status: null, outcome: 'error' as const, result: 'timeout' as const },
        ][index] ?? {},
    )
    expect(await idsOf(server, 'tool=add')).toEqual([missing, broken])
    expect(await idsOf(server, `tool=add&tool=${encodeURIComponent('Ünï')}`)).toEqual([missing, broken, slow])
    expect(await idsOf(server, 'result=failed&result=timeout')).toEqual([broken, slow])
    expect(await idsOf(server, 'outcome=error')).toEqual([missing, broken, slow])
    expect(await idsOf(server, 'status=404')).toEqual([missing])
    expect(await idsOf(server, 'status=2xx&status=5xx')).toEqual([ok, broken])
    expect(await idsOf(server, `caller=${ada}`)).toEqual([ok])
    expect(await idsOf(server, 'caller=anonymous')).toEqual([missing, broken, slow])
    expect(await idsOf(server, `caller=anonymous&caller=${ada}`)).toEqual([ok, missing, broken, slow])
    expect(await idsOf(server, 'client=claude')).toEqual([ok, missing, broken])
    expect(await idsOf(server, 'client=claude/2.0')).toEqual([missing])
    expect(await idsOf(server, 'tool=add&status=5xx&client=claude')).toEqual([broken])
    expect(await idsOf(server, `server=${server}&tool=add`)).toEqual([missing, broken])
    expect(await idsOf(server, `server=${ada}`)).toEqual([])
    const [from, to] = [secondsBeforeNoon(2), secondsBeforeNoon(0)].map(time => time.toISOString())
    expect(await idsOf(server, `from=${from}&to=${to}`)).toEqual([missing, broken])
  })

  it('that are unknown or wrong are refused by name', async () => {
    const server = await world.server()
    const refused = async (query: string) =>
      refusalOf(await world.owner.send('GET', `/servers/${server}/executions?${query}`))
    expect(await refused('tols=add')).toMatch(/^400 .*tols/)
    expect(await refused('status=404&status=abc')).toMatch(/^400 .*status\[1\]/)
    expect(await refused('caller=ada')).toMatch(/^400 .*caller\[0\]/)
    expect(await refused('result=odd')).toMatch(/^400 .*result\[0\]/)
    expect(await refused('q=')).toMatch(/^400 .*q/)
    const values = Array.from({ length: 1_000 }, (_, index) => `tool=${index}`)
    expect(await refused(values.join('&'))).toMatch(/^400 .*tool: has more than 100 values/)
    const many = Array.from({ length: 10_000 }, (_, index) => `tool=${index}`).join('&')
    const response = await fetch(`${world.origin}/api/v1/servers/${server}/executions?${many}`, {
      headers: { authorization: `Bearer ${world.owner.token}` },
    }).catch(() => undefined)
    expect(response?.status ?? 431).toBe(431)
  })

  it('find text in errors, requests and arguments, in which wildcards and quotes mean themselves', async () => {
    const server = await world.server()
    const request = (body: string) =>
      JSON.stringify({ method: 'POST', url: 'https://api.example.com/p', headers: [['x-key', 'K1']], body })
    const [a = '', b = '', c = '', d = ''] = await world.addCalls(
      server,
      4,
      index =>
        [
          { error: 'It is 100% "broken" \\ a_b', outcome: 'error' as const, result: 'failed' as const },
          { request: request('{"city":"Bern", "rate": "1000"}') },
          {
            arguments: JSON.stringify({ values: { city: "O'Hare", deep: { list: ['Zürich'] } }, cut: [], masked: [] }),
          },
          { request: request('aXb') },
        ][index] ?? {},
    )
    const find = (text: string) => idsOf(server, `q=${encodeURIComponent(text)}`)
    expect(await find('100%')).toEqual([a])
    expect(await find('100')).toEqual([a, b])
    expect(await find('a_b')).toEqual([a])
    expect(await find('"BROKEN" \\')).toEqual([a])
    expect(await find('"city":"Bern"')).toEqual([b])
    expect(await find("o'hare")).toEqual([c])
    expect(await find('Zürich')).toEqual([c])
    expect(await find('k1')).toEqual([b, d])
    expect(await find('https://api.')).toEqual([b, d])
    // The names of the members in which these are stored are not text of a call.
    expect(await find('headers')).toEqual([])
    expect(await find('values')).toEqual([])
    expect(await find('%')).toEqual([a])
    expect(await find("'; DROP TABLE")).toEqual([])
  })

  it('that no index serves look at 20,000 calls for each page, and say how far', async () => {
    const server = await world.server()
    const records = Array.from({ length: 20_600 }, (_, index) =>
      buildExecution(server, {
        startedAt: secondsBeforeNoon(index),
        ...((index === 3 || index > 20_597) && { tool: 'rare' }),
      }),
    )
    for (const record of records) world.services.recorder.record(record)
    await world.services.recorder.flush()
    const ids = records.map(({ id }) => id)
    const path = `/servers/${server}/executions?limit=50&tool=rare`
    const first = await readCalls(world.owner, path)
    expect(first.items.map(({ id }) => id)).toEqual([ids[3]])
    const looked = (NOON - Date.parse(first.lookedUntil ?? '')) / 1_000
    // A busy machine may need the two seconds of a page for fewer calls.
    expect(looked).toBeLessThanOrEqual(19_999)
    const all = await readAllCalls(world.owner, `/servers/${server}/executions?limit=1&tool=rare`)
    expect(all.ids).toEqual([ids[3], ids[20_598], ids[20_599]])
    const none = await readCalls(
      world.owner,
      `/servers/${server}/executions?q=nowhere&to=${secondsBeforeNoon(20_000).toISOString()}`,
    )
    expect(none).toEqual({ items: [], nextCursor: null, lookedUntil: null })
  })
})
