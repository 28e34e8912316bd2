import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { callText, connect } from '../../servers/mcp.ts'
import { makeServer, signUp } from '../../support/api-client.ts'
import { answerJson } from '../../support/fake-api.ts'
import { createPageBrowser } from '../../support/page-browser.ts'
import { signInToPages, textOf } from '../../support/signed-in.ts'
import { runFakeApi, runPatchbay, runUser } from '../../support/world.ts'

const HOSTILE = '<script>alert(1)</script>'
const SECRET = 'sk-never-shown'

describe('the history page of a server', () => {
  const patchbay = runPatchbay()
  const api = runFakeApi(({ url }, response) =>
    url.startsWith('/bad') ? answerJson(response, { reason: HOSTILE }, 422) : answerJson(response, { ok: true }),
  )
  let serverId: string
  let path: string
  let instanceIds: Record<string, string>

  const signIn = ({ email }: { email: string } = owner) => signInToPages(patchbay.origin, email)
  const call = (tool: string, args: object = {}) =>
    owner.expectOk('POST', `/instances/${instanceIds[tool]}/call`, { arguments: args })
  const linksIn = (html: string): string[] =>
    [...html.matchAll(/<a id="call-[^"]*" href="([^"]*)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'))

  const owner = runUser(patchbay)
  beforeAll(async () => {
    const made = await makeServer(
      owner,
      [
        { name: 'good', method: 'POST', url: `${api.origin}/good?key={{key}}&q={{q?}}`, body: '{"q": "{{q?}}"}' },
        { name: 'bad', method: 'GET', url: `${api.origin}/bad` },
        {
          name: 'again',
          method: 'GET',
          url: `${api.origin}/again`,
          annotations: { readOnlyHint: true },
          cacheSeconds: 60,
        },
      ],
      { server: { name: 'Desk' } },
    )
    ;({ serverId, instanceIds } = made)
    await owner.expectOk('PUT', `/servers/${serverId}/globals/key`, { value: SECRET, secret: true })
    await owner.expectOk('PATCH', `/instances/${instanceIds.good}`, { bindings: { key: { source: 'server' } } })
    path = `/servers/${serverId}/history`
  })

  it('links to the inspector if there are no calls yet', async () => {
    const person = await signIn()
    const { html } = await person.get(path)
    expect(html).toContain('No calls yet')
    expect(html).toContain(`/servers/${serverId}/inspector`)
  })

  it('filters by the outcomes that calls are shown with', async () => {
    const { html } = await (await signIn()).get(path)
    for (const [value, text] of [
      ['blocked', 'Blocked'],
      ['timeout', 'Timed out'],
    ]) {
      expect(html).toMatch(new RegExp(`name="result" value="${value}"><bdi>${text}</bdi>`))
    }
  })

  it('lists calls with their outcome, and shows the masked request of one', async () => {
    await call('good', { q: HOSTILE })
    await call('bad')
    const person = await signIn()
    const { html } = await person.get(path)
    expect(html).toContain('200 OK')
    expect(html).toContain('422 Unprocessable entity')
    expect(html).not.toContain('<script>alert')
    const [bad = '', good = ''] = linksIn(html)
    const failed = (await person.get(bad)).html
    expect(failed).toContain('data-tone="warn"')
    expect(failed).toContain('&lt;script&gt;alert(1)')
    expect(failed).toContain(owner.email)
    expect(failed).toContain('patchbay-api')
    const shown = (await person.get(good)).html
    expect(shown).toContain('curl --globoff')
    expect(shown).toContain('/good?key=')
    expect(shown).toContain('aria-current="true"')
    for (const page of [failed, shown]) {
      expect(page).not.toContain('<script>alert')
      expect(page).not.toContain(SECRET)
    }
  })

  it('filters by tool, outcome, status, client, text and time, also together', async () => {
    const person = await signIn()
    const today = new Date().toISOString().slice(0, 10)
    const countOf = async (query: string) => linksIn((await person.get(`${path}?${query}`)).html).length
    expect(await countOf('tool=good')).toBe(1)
    expect(await countOf('tool=good&tool=bad')).toBe(2)
    expect(await countOf('outcome=error')).toBe(1)
    expect(await countOf('result=rejected&result=timeout')).toBe(1)
    expect(await countOf('result=error')).toBe(1)
    expect(await countOf('status=4xx')).toBe(1)
    expect(await countOf('status=2xx&tool=bad')).toBe(0)
    expect(await countOf('client=patchbay-api')).toBe(2)
    expect(await countOf(`caller=${owner.userId}`)).toBe(2)
    expect(await countOf('caller=anonymous')).toBe(0)
    expect(await countOf(`q=${encodeURIComponent(HOSTILE)}&result=success`)).toBe(1)
    expect(await countOf('tool=&result=&status=&client=&q=&from=&to=&zone=UTC')).toBe(2)
    const day = await person.get(`${path}?from=${today}&to=${today}&outcome=ok`)
    expect(linksIn(day.html)).toHaveLength(1)
    expect(linksIn(day.html)[0]).toContain(`from=${today}`)
    expect(await countOf(`from=${today}T00:00&to=2999-01-01T00:00`)).toBe(2)
    expect(await countOf('from=2999-01-01T00:00')).toBe(0)
    const none = await person.get(`${path}?to=2020-01-01`)
    expect(none.html).toContain('No calls match')
    expect(none.html).toContain('Show all calls')
    expect((await person.get(`${path}?cursor=nonsense`)).status).toBe(400)
  })

  it('shows each filter in effect as a link that removes it', async () => {
    const person = await signIn()
    const { html } = await person.get(
      `${path}?tool=good&tool=bad&status=4xx&caller=${owner.userId}&from=2026-01-01T00:00`,
    )
    const chips = html.slice(html.indexOf('aria-label="Active filters"'))
    const removals = [...chips.matchAll(/<a class="filter" data-set href="([^"]*)">/g)].map(([, href = '']) =>
      href.replaceAll('&amp;', '&'),
    )
    expect(removals).toHaveLength(5)
    expect(removals[0]).toBe(`${path}?tool=bad&status=4xx&caller=${owner.userId}&from=2026-01-01T00%3A00`)
    expect(removals[2]).toBe(`${path}?tool=good&tool=bad&caller=${owner.userId}&from=2026-01-01T00%3A00`)
    expect(textOf(chips)).toContain(`Remove the filter Caller ${owner.email}`)
    expect(chips).toContain('datetime="2026-01-01T00:00:00.000Z"')
    for (const name of ['tool" value="good', 'tool" value="bad', 'status" value="4xx']) {
      expect(html).toContain(`name="${name}" checked`)
    }
    expect((await person.get(`${path}?tool=${encodeURIComponent(HOSTILE)}`)).html).not.toContain('<script>alert')
  })

  it('reports unknown filters and wrong values, and shows no calls', async () => {
    const person = await signIn()
    const refusalOf = async (query: string) => {
      const { status, html } = await person.get(`${path}?${query}`)
      expect([query, status, linksIn(html)]).toEqual([query, 400, []])
      return textOf(html.slice(html.indexOf('id="filter-errors"'), html.indexOf('</search>')))
    }
    expect(await refusalOf('tols=good')).toContain('There is no filter “tols”.')
    expect(await refusalOf('result=gone')).toContain('Outcome “gone” is not an outcome.')
    expect(await refusalOf('outcome=gone')).toContain('Outcome “gone” is not an outcome.')
    expect(await refusalOf('status=404&status=abc')).toContain('Status “abc” must be an HTTP status')
    expect(await refusalOf('caller=ada')).toContain('Caller “ada” must be the id of a user')
    const odd = await refusalOf('from=yesterday&to=2020-02-30')
    expect(odd).toContain('From “yesterday” is not a date or time')
    expect(odd).toContain('Until “2020-02-30” is not a date or time')
    expect(await refusalOf('from=0000-01-01')).toContain('is not a date or time')
    expect(await refusalOf('from=2026-02-01&to=2026-01-01')).toContain(
      'The end of the time range is not after its start.',
    )
    expect(await refusalOf('q=a&q=b')).toContain('The filter “q” is given twice.')
    expect(await refusalOf(Array.from({ length: 101 }, (_, index) => `tool=${index}`).join('&'))).toContain(
      'Tool has more than 100 values',
    )
  })

  it('filters by result in the API, and refuses an unknown one', async () => {
    const { body } = await owner.expectOk('GET', `/servers/${serverId}/executions?result=rejected`)
    expect(body).toMatchObject({ items: [{ tool: 'bad', result: 'rejected', outcome: 'error' }] })
    expect((await owner.send('GET', `/servers/${serverId}/executions?result=gone`)).status).toBe(400)
  })

  it('shows older calls page by page, and where records are missing', async () => {
    const { db } = patchbay.services
    const { serverId: busy } = await makeServer(owner, [], { server: { name: 'Busy' } })
    const start = Date.UTC(2026, 0, 1)
    await db.execution.createMany({
      data: Array.from({ length: 60 }, (_, index) => ({
        id: randomUUID(),
        serverId: busy,
        tool: `tool_${index}`,
        startedAt: new Date(start + index * 60_000),
        durationMs: 5,
        outcome: 'ok' as const,
        requestBytes: 0,
        responseBytes: 10,
      })),
    })
    const gap = { from: new Date(start + 30 * 60_000 + 1_000), to: new Date(start + 30 * 60_000 + 30_000) }
    await db.executionGap.create({
      data: { serverId: busy, missing: 12, reason: 'the database was locked', ...gap },
    })
    await db.executionGap.create({
      data: {
        serverId: busy,
        missing: 1,
        reason: 'the queue was full',
        from: new Date(start),
        to: new Date(start + 1),
      },
    })
    const person = await signIn()
    const first = (await person.get(`/servers/${busy}/history`)).html
    expect(linksIn(first)).toHaveLength(50)
    expect(first).toMatch(/tool_31<.*12 calls were not recorded between.*the database was locked.*tool_30</s)
    expect(first).not.toContain('1 call was not recorded')
    const [, older = ''] = /rel="next" href="([^"]*)"/.exec(first) ?? []
    const second = (await person.get(older.replaceAll('&amp;', '&'))).html
    expect(linksIn(second)).toHaveLength(10)
    expect(second).toContain('1 call was not recorded between')
    expect(second).toContain('Back to newest')
    expect(second).not.toContain('rel="next"')
  })

  it('names only callers of the own organization', async () => {
    const { db, recorder } = patchbay.services
    const stranger = await signUp(patchbay.origin)
    for (const token of [stranger.token, undefined]) {
      const client = await connect(`${patchbay.origin}/s/${serverId}`, token)
      expect(await callText(client, 'bad')).toMatchObject({ isError: true })
    }
    await recorder.flush()
    const calls = await db.execution.findMany({ where: { serverId }, orderBy: { startedAt: 'desc' }, take: 2 })
    const person = await signIn()
    const pages = await Promise.all(calls.map(({ id }) => person.get(`${path}/${id}`)))
    const callers = pages.map(({ html }) => /<dt>Caller<\/dt><dd>([^<]*)/.exec(html)?.[1])
    expect(callers.sort()).toEqual(['a user of another organization', 'anonymous'])
    for (const { html } of pages) expect(html).not.toContain(stranger.email)
  })

  it('shows nothing to another organization, nor a call at another server’s address', async () => {
    const { db } = patchbay.services
    const { id } = await db.execution.findFirstOrThrow({ where: { serverId } })
    const own = await owner.create('/servers', { name: 'Other' })
    const stranger = await signIn(await signUp(patchbay.origin))
    expect((await stranger.get(path)).status).toBe(404)
    expect((await stranger.get(`${path}/${id}`)).status).toBe(404)
    const person = await signIn()
    expect((await person.get(`/servers/${own.id}/history/${id}`)).status).toBe(404)
    expect((await person.get(`${path}/${randomUUID()}`)).status).toBe(404)
    expect((await person.get(`${path}/no-uuid`)).status).toBe(404)
    expect((await createPageBrowser(patchbay.origin).get(path)).location).toContain('/sign-in')
  })

  it('distinguishes cached results from calls that were sent', async () => {
    const person = await signIn()
    await call('again')
    await call('again')
    const { html } = await person.get(`${path}?tool=again`)
    expect(html.match(/200 OK, cached/g)).toHaveLength(1)
    const [given = '', sent = ''] = linksIn(html)
    const shown = (await person.get(given)).html
    expect(shown).toMatch(/<dt>Result<\/dt><dd>from the cache, [\d.,]+ \w+ old; no request was sent<\/dd>/)
    expect(shown).toContain('The original request, secrets masked')
    expect((await person.get(sent)).html).not.toContain('nothing was sent')
    const overview = await person.get(`/servers/${serverId}`)
    expect(overview.html.match(/>200 OK, cached</g)).toHaveLength(1)
  })
})
