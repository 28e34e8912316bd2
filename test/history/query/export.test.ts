import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { exportCalls } from '../../../src/history/export/export-calls.ts'
import { selectionOf } from '../../../src/history/query/conditions.ts'
import { databaseKinds } from '../../support/databases.ts'
import { buildExecution } from '../execution.ts'
import { refusalOf, runCallsWorld } from './calls-world.ts'

const Item = z.looseObject({ id: z.string() })
const Items = z.object({ items: z.array(Item) })

describe.each(databaseKinds)('an export of calls on $kind', kind => {
  const world = runCallsWorld(kind)

  const request = (path: string, signal?: AbortSignal) =>
    fetch(`${world.origin}/api/v1${path}`, {
      headers: { authorization: `Bearer ${world.owner.token}` },
      ...(signal && { signal }),
    })
  const textOf = async (serverId: string, query: string): Promise<string> => {
    const response = await request(`/servers/${serverId}/executions/export?${query}`)
    expect(response.status).toBe(200)
    return response.text()
  }
  const linesOf = (text: string) =>
    text
      .split('\n')
      .slice(0, -1)
      .map(line => Item.parse(JSON.parse(line)))
  const idsIn = (text: string) => linesOf(text).map(({ id }) => id)

  it('has the calls and fields of the list, as NDJSON and as JSON', async () => {
    const server = await world.server()
    await world.addCalls(
      server,
      120,
      index =>
        [
          {},
          {
            tool: '',
            instanceId: 'i',
            userId: 'u',
            client: 'claude/1',
            tokenId: 't',
            requestId: 'r',
            tokensBefore: 9,
            tokensSent: 4,
            tokensEstimated: true,
          },
          { result: null, status: 404, outcome: 'error' as const, error: 'a\n"b" 🌧' },
          {
            request: JSON.stringify({
              method: 'POST',
              url: 'https://a.example/',
              headers: [
                ['x-a', '1'],
                ['x-a', '2'],
              ],
              body: '{}',
              answerAgeMs: 3,
              schemaMismatch: 'odd',
            }),
            timing: JSON.stringify({ resolveMs: 0.5, bodyMs: 3 }),
            attempts: JSON.stringify([
              { startMs: 0, durationMs: 1, status: 503 },
              { startMs: 2, durationMs: 1, failure: 'no' },
            ]),
          },
        ][index % 4] ?? {},
    )
    const listed = Items.parse(
      (await world.owner.expectOk('GET', `/servers/${server}/executions?limit=200`)).body,
    ).items
    expect(listed).toHaveLength(120)
    expect(linesOf(await textOf(server, 'format=ndjson'))).toEqual(listed)
    expect(JSON.parse(await textOf(server, 'format=json'))).toEqual(listed)
    expect(JSON.parse(await textOf(server, 'format=json&tool=nothing'))).toEqual([])
    const ofOrganization = await request(
      `/organizations/${world.organizationId}/executions/export?format=ndjson&server=${server}`,
    )
    expect(linesOf(await ofOrganization.text())).toEqual(listed)
    expect(ofOrganization.headers.get('content-disposition')).toBe('attachment; filename="calls.ndjson"')
  })

  it('has all calls that match, newest first, however many there are', async () => {
    const server = await world.server()
    const ids = await world.addCalls(server, 5_678, index => ({
      status: index % 100 === 0 ? 404 : 200,
      error: index === 3_000 ? 'a needle' : null,
    }))
    expect(idsIn(await textOf(server, 'format=ndjson'))).toEqual(ids)
    expect(idsIn(await textOf(server, 'format=ndjson&status=404'))).toEqual(ids.filter((_, index) => index % 100 === 0))
    expect(idsIn(await textOf(server, 'format=ndjson&q=NEEDLE'))).toEqual([ids[3_000]])
    expect(JSON.parse(await textOf(server, 'format=json'))).toHaveLength(ids.length)
  })

  it('as CSV has no cell that a spreadsheet would run', async () => {
    const server = await world.server()
    const tools = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '＝1', 'say "hi", all', "'quoted", 'plain']
    await world.addCalls(server, tools.length, index => ({ tool: tools[index] ?? '' }))
    const text = await textOf(server, 'format=csv')
    const [header = '', ...lines] = text.split('\r\n')
    const column = header.split(',').indexOf('tool')
    expect(column).toBe(3)
    expect(lines.pop()).toBe('')
    const cells = lines.map(line => /^[^,]*,[^,]*,[^,]*,("(?:[^"]|"")*"|[^,]*),/s.exec(line)?.[1])
    expect(cells).toEqual([
      "'=1+1",
      "'+1",
      "'-1",
      "'@SUM(A1)",
      "'\t=1",
      '"\'\r=1"',
      "'＝1",
      '"say ""hi"", all"',
      "'quoted",
      'plain',
    ])
  })

  it('refuses an unknown filter or format, and those who may not see the calls', async () => {
    const server = await world.server('private')
    for (const query of ['', 'format=xml', 'format=csv&limit=5', 'format=csv&tols=a']) {
      expect(refusalOf(await world.owner.send('GET', `/servers/${server}/executions/export?${query}`))).toMatch(
        /^400 .*(format|limit|tols)/,
      )
    }
    const viewer = await world.member(world.organizationId, 'viewer')
    expect((await viewer.send('GET', `/servers/${server}/executions/export?format=json`)).status).toBe(403)
  })

  it('goes on while calls are recorded, and has those from before each once', async () => {
    const server = await world.server()
    const ids = await world.addCalls(server, 3_000)
    const { recorder } = world.services
    const before = recorder.stats()
    let isDone = false
    const writing = (async () => {
      for (let batch = 0; !isDone || batch < 3; batch++) {
        for (let index = 0; index < 200; index++) recorder.record(buildExecution(server))
        await setImmediate()
        await recorder.flush()
      }
    })()
    const exported = idsIn(await textOf(server, 'format=ndjson'))
    isDone = true
    await writing
    expect(exported.filter(id => ids.includes(id))).toEqual(ids)
    expect(new Set(exported).size).toBe(exported.length)
    expect(recorder.stats().missing).toBe(before.missing)
  })

  it('fails at its reader, however slow, if reading fails', async () => {
    const server = await world.server()
    await world.addCalls(server, 1_200)
    const failed = Promise.withResolvers<void>()
    const unhandled: unknown[] = []
    const note = (error: unknown) => void unhandled.push(error)
    process.on('unhandledRejection', note)
    onTestFinished(() => void process.off('unhandledRejection', note))
    let queries = 0
    const parts = exportCalls(
      world.db,
      selectionOf({ serverId: server }, {}, () => ({})),
      'ndjson',
      async () => {
        if (queries++ === 0) return 'the first part'
        failed.resolve()
        throw new Error('the database is away')
      },
    )
    expect((await parts.next()).value).toBe('the first part')
    await failed.promise
    // The process learns of an unhandled failure after the turn of the event loop in which it happened.
    await setImmediate()
    await setImmediate()
    expect(unhandled).toEqual([])
    await expect(parts.next()).rejects.toThrow('the database is away')
  })

  it('is refused to a user who reads four others at the same time', async () => {
    const server = await world.server()
    await world.addCalls(server, 3_000, () => ({ error: 'x'.repeat(8_000) }))
    const path = `/servers/${server}/executions/export?format=ndjson`
    const stop = new AbortController()
    const open = await Promise.all(Array.from({ length: 4 }, () => request(path, stop.signal)))
    const refused = await request(path)
    expect(refused.status).toBe(429)
    expect(await refused.json()).toMatchObject({ detail: expect.stringContaining('4 files') })
    const other = await world.member(world.organizationId, 'viewer')
    expect((await other.send('GET', `${path}&tool=nothing`)).status).toBe(200)
    const [first] = open
    expect((await first?.text())?.split('\n')).toHaveLength(3_001)
    expect((await request(`${path}&tool=nothing`)).status).toBe(200)
    stop.abort()
  })

  it('ends when the client disconnects', async () => {
    const server = await world.server()
    await world.addCalls(server, 3_000, () => ({ error: 'x'.repeat(8_000) }))
    const { callHistory } = world.services
    const open = callHistory.exportExecutions
    const ended = Promise.withResolvers<number>()
    callHistory.exportExecutions = async (...args) => {
      const parts = await open(...args)
      return (async function* () {
        let count = 0
        try {
          for await (const part of parts) {
            count++
            yield part
          }
        } finally {
          ended.resolve(count)
        }
      })()
    }
    try {
      const stop = new AbortController()
      const response = await request(`/servers/${server}/executions/export?format=ndjson`, stop.signal)
      await response.body?.getReader().read()
      stop.abort()
      // All eleven parts have 24 MB, more than fits into the buffers between the database and the client.
      expect(await ended.promise).toBeLessThan(9)
    } finally {
      callHistory.exportExecutions = open
    }
  })
})
