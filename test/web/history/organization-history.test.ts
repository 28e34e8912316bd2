import { randomUUID } from 'node:crypto'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { AppError } from '../../../src/lib/kernel/errors.ts'
import { makeServer, signUp } from '../../support/api-client.ts'
import { signInToPages, textOf } from '../../support/signed-in.ts'
import { organizationsOf, runPatchbay } from '../../support/world.ts'

// One test fills a long history.
vi.setConfig({ testTimeout: 120_000 })

const HOSTILE = '<img src=x>'

describe('the history page of an organization', () => {
  const patchbay = runPatchbay()

  /** Creates two servers, each with some calls. */
  const open = async () => {
    const owner = await signUp(patchbay.origin)
    const [{ id: organizationId, name } = { id: '', name: '' }] = await organizationsOf(owner)
    const servers = await Promise.all(
      ['Desk', HOSTILE].map(async name => (await makeServer(owner, [], { server: { name } })).serverId),
    )
    const [desk = '', other = ''] = servers
    const addCalls = async (serverId: string, tool: string, count: number, changes = {}) => {
      const calls = Array.from({ length: count }, (_, index) => ({
        ...{ id: randomUUID(), serverId, organizationId, tool, startedAt: new Date(Date.now() - (index + 1) * 60_000) },
        ...{
          durationMs: 5,
          outcome: 'ok' as const,
          status: 200,
          requestBytes: 0,
          responseBytes: 10,
          client: 'claude/1',
        },
        ...changes,
      }))
      for (let first = 0; first < count; first += 1_000) {
        await patchbay.services.db.execution.createMany({ data: calls.slice(first, first + 1_000) })
      }
      return calls.map(({ id }) => id)
    }
    const person = await signInToPages(patchbay.origin, owner.email)
    return {
      owner,
      organizationId,
      name,
      person,
      desk,
      other,
      addCalls,
      path: `/organizations/${organizationId}/history`,
    }
  }
  const linksIn = (html: string): string[] =>
    [...html.matchAll(/<a id="call-[^"]*" href="([^"]*)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'))

  it('is linked in its navigation, and lists the calls of all its servers', async () => {
    const { person, organizationId, desk, other, addCalls, path } = await open()
    expect((await person.get(`/organizations/${organizationId}/members`)).html).toContain(`href="${path}"`)
    expect((await person.get(path)).html).toContain('No calls yet')
    await addCalls(desk, 'send', 2)
    await addCalls(other, 'read', 1)
    const { html } = await person.get(path)
    expect(linksIn(html)).toHaveLength(3)
    expect(html).toContain('&lt;img src=x&gt;')
    expect(html).not.toContain(HOSTILE)
    expect(html).toMatch(new RegExp(`name="server" value="${desk}"`))
    expect(linksIn((await person.get(`${path}?server=${desk}`)).html)).toHaveLength(2)
    expect(linksIn((await person.get(`${path}?server=${desk}&tool=read`)).html)).toHaveLength(0)
    const call = (await person.get(linksIn(html)[0] ?? '')).html
    expect(call).toContain(`<dt>Server</dt><dd><a href="/servers/`)
    expect((await person.get(`${path}/${randomUUID()}`)).status).toBe(404)
    const stranger = await signUp(patchbay.origin)
    expect((await (await signInToPages(patchbay.origin, stranger.email)).get(path)).status).toBe(404)
  })

  it('shows a call of another organization only there', async () => {
    const { desk, addCalls } = await open()
    const [id] = await addCalls(desk, 'send', 1)
    const { person, path } = await open()
    expect((await person.get(`${path}/${id}`)).status).toBe(404)
  })

  it('lists the calls without charts while Patchbay is too busy for these', async () => {
    const { person, desk, addCalls, path } = await open()
    await addCalls(desk, 'send', 1)
    const charting = vi.spyOn(patchbay.services.callHistory, 'chartExecutions')
    onTestFinished(() => charting.mockRestore())
    charting.mockRejectedValueOnce(new AppError('unavailable', 'Patchbay is busy.'))
    const { status, html } = await person.get(path)
    expect([status, linksIn(html).length]).toEqual([200, 1])
    expect(html).toContain('charts=show')
  })

  it('downloads the calls that match', async () => {
    const { person, desk, addCalls, path } = await open()
    await addCalls(desk, 'send', 2)
    await addCalls(desk, '=1+1', 1)
    const { html } = await person.get(`${path}?tool=send&from=2020-01-01`)
    const files = [...html.matchAll(/href="([^"]*\/export[^"]*)"/g)].map(([, href = '']) =>
      href.replaceAll('&amp;', '&'),
    )
    expect(files).toHaveLength(3)
    const [csv, json, ndjson] = await Promise.all(files.map(async href => (await person.get(href)).html))
    expect(csv?.trim().split('\n')).toHaveLength(3)
    expect(JSON.parse(json ?? '')).toHaveLength(2)
    expect(ndjson?.trim().split('\n')).toHaveLength(2)
  })

  it('deletes the calls that match, after an admin has seen how many and typed the name', async () => {
    const { person, owner, organizationId, name, desk, addCalls, path } = await open()
    await addCalls(desk, 'send', 3)
    await addCalls(desk, 'read', 2)
    const { html } = await person.get(`${path}?tool=send`)
    const [, href = ''] = /href="([^"]*\/removal[^"]*)"/.exec(html) ?? []
    const removal = href.replaceAll('&amp;', '&')
    expect(removal).toContain('to=')
    const asked = await person.get(removal)
    expect(textOf(asked.html)).toContain('3 calls of the history match the filters and will be deleted')
    // A call that comes after the page was shown is not deleted.
    await addCalls(desk, 'send', 1, { startedAt: new Date(Date.now() + 1_000) })
    expect((await person.submit(removal, { sure: 'other' })).status).toBe(400)
    const done = await person.submit(removal, { sure: name })
    expect(done.status).toBe(303)
    const after = await person.get(done.location ?? '')
    expect(after.html).toContain('3 calls deleted.')
    expect(linksIn(after.html)).toHaveLength(3)
    const audit = await owner.expectOk('GET', `/organizations/${organizationId}/audit?action=call.removed`)
    expect(audit.body).toMatchObject({ items: [{ change: { removed: 3 } }] })
  })

  it('says that nothing matches what is to be deleted, and refuses wrong filters', async () => {
    const { person, path } = await open()
    const none = await person.get(`${path}/removal?tool=none`)
    expect(none.html).toContain('0 calls')
    expect(none.html).not.toContain('name="sure"')
    expect((await person.get(`${path}/removal?tols=none`)).status).toBe(400)
  })

  it('says how far it looked, and goes on from there', async () => {
    const { person, name, desk, addCalls, path } = await open()
    await addCalls(desk, 'often', 20_500)
    const first = await person.get(`${path}?tool=rare`)
    expect(first.html).toContain('No calls match so far')
    const [, older = ''] = /rel="next" href="([^"]*)"/.exec(first.html) ?? []
    expect((await person.get(older.replaceAll('&amp;', '&'))).html).toContain('No calls match')
    await addCalls(desk, 'rare', 1, { startedAt: new Date(0) })
    const removal = `${path}/removal?tool=rare`
    expect(textOf((await person.get(removal)).html)).toContain('at least 0 calls of the history')
    const done = await person.submit(removal, { sure: name })
    expect((await person.get(done.location ?? '')).html).toContain('1 call deleted.')
  })

  it('deletes on where a request stopped, if there are more calls than it can delete', async () => {
    const { person, name, desk, addCalls, path } = await open()
    await addCalls(desk, 'send', 3)
    const removing = vi.spyOn(patchbay.services.callHistory, 'removeExecutions')
    onTestFinished(() => removing.mockRestore())
    removing.mockResolvedValueOnce({ removed: 2, nextCursor: 'the-rest' })
    removing.mockResolvedValueOnce({ removed: 1, nextCursor: null })
    await person.get(`${path}/removal?tool=send`)
    const more = await person.submit(`${path}/removal?tool=send`, { sure: name })
    const done = await person.submit(more.location ?? '', { sure: name })
    expect(removing.mock.lastCall?.[2]).toMatchObject({ tool: ['send'], cursor: 'the-rest' })
    expect(done.location).toContain('count=3')
  })
})
