import { beforeAll, describe, expect, it } from 'vitest'
import { makeServer, signUp } from '../../support/api-client.ts'
import { answerJson } from '../../support/fake-api.ts'
import { inputsOf, unescapeHtml } from '../../support/page-browser.ts'
import { signInToPages, textOf } from '../../support/signed-in.ts'
import { runFakeApi, runPatchbay, runUser } from '../../support/world.ts'

const SECRET = 'sk-never-shown'

describe('calling a recorded call again', () => {
  const patchbay = runPatchbay()
  const api = runFakeApi((_request, response) => answerJson(response, { ok: true }))
  const owner = runUser(patchbay)
  let serverId: string
  let instanceIds: Record<string, string>

  beforeAll(async () => {
    const made = await makeServer(
      owner,
      [
        {
          name: 'book',
          method: 'POST',
          url: `${api.origin}/book?depot={{depot}}&count={{integer:count?}}&note={{note?}}`,
          headers: [{ name: 'X-Api-Key', value: '{{key?}}' }],
          body: '{"items": {{json:items?}}, "token": "{{hidden?}}"}',
        },
        { name: 'plain', method: 'GET', url: `${api.origin}/plain` },
      ],
      { server: { name: 'Desk' } },
    )
    ;({ serverId, instanceIds } = made)
    await owner.expectOk('PUT', `/servers/${serverId}/globals/hidden`, { value: SECRET, secret: true })
    await owner.expectOk('PATCH', `/instances/${instanceIds.book}`, { bindings: { hidden: { source: 'server' } } })
  })

  const signIn = ({ email }: { email: string } = owner) => signInToPages(patchbay.origin, email)
  /** Calls a tool and returns the page of the call, and the address of its link to the inspector. */
  const callAndOpen = async (tool: string, args: object) => {
    await owner.expectOk('POST', `/instances/${instanceIds[tool]}/call`, { arguments: args })
    await patchbay.services.recorder.flush()
    const person = await signIn()
    const { id } = await patchbay.services.db.execution.findFirstOrThrow({
      where: { serverId },
      orderBy: { startedAt: 'desc' },
    })
    const { html } = await person.get(`/servers/${serverId}/history/${id}`)
    const again = unescapeHtml(/href="([^"]*\/inspector\?[^"]*call=[^"]*)"/.exec(html)?.[1] ?? '')
    return { person, id, html, again }
  }

  it('fills in the form with its arguments, and calls the tool with them', async () => {
    const items = [{ name: 'crate', size: 2 }]
    const { person, html, again } = await callAndOpen('book', { depot: 'Leipzig & Halle', count: 3, items })
    expect(textOf(html)).toMatch(/Arguments .*Leipzig &amp; Halle/)
    const opened = await person.get(again)
    expect(textOf(opened.html)).toContain('Filled in with the arguments of the call of')
    expect(opened.html).toContain('Leipzig &amp; Halle')
    expect(inputsOf(opened.html).get('argument:count')).toBe('3')
    expect(textOf(opened.html)).toContain('&quot;crate&quot;')
    const form = { 'argument:depot': 'Leipzig & Halle', 'argument:count': '3', 'argument:items': JSON.stringify(items) }
    const called = await person.submit(`/servers/${serverId}/inspector?tool=book`, form)
    expect(textOf(called.html)).toContain('200 OK')
    // The form also opens as JSON with the same arguments.
    const asJson = unescapeHtml(/href="([^"]*as=json[^"]*)"/.exec(opened.html)?.[1] ?? '')
    expect(unescapeHtml((await person.get(asJson)).html)).toContain('"depot": "Leipzig & Halle"')
  })

  it('shows no secret, neither the server’s nor one that the model gave, and says what is missing', async () => {
    const given = 'typed by/the&model'
    const args = { depot: 'Leipzig', key: given, note: `say ${SECRET}`, items: [given, 'x'.repeat(20_000)] }
    const { person, html, again } = await callAndOpen('book', args)
    expect(textOf(html)).toMatch(/Not recorded here, because they are secrets or contain one: key, note/)
    const opened = await person.get(again)
    const text = textOf(opened.html)
    expect(text).toContain('Not filled in, because they are secrets or contain one: key, note.')
    expect(text).toContain('Not filled in, because they were too long to be recorded: items.')
    for (const page of [html, opened.html]) expect(page).not.toContain(SECRET)
    expect(textOf(html)).toContain('X-Api-Key: •••')
    const { arguments: stored, request } = await patchbay.services.db.execution.findFirstOrThrow({
      where: { serverId },
      orderBy: { startedAt: 'desc' },
    })
    for (const shown of [html, opened.html, stored, request]) expect(unescapeHtml(shown ?? '')).not.toContain(given)
    expect(stored).not.toContain(SECRET)
  })

  it('opens arguments that the tool no longer has as JSON', async () => {
    const { person, again } = await callAndOpen('plain', {})
    await patchbay.services.db.execution.updateMany({
      where: { serverId, tool: 'plain' },
      data: { arguments: JSON.stringify({ values: { gone: 'value' }, cut: [], masked: [] }) },
    })
    expect(unescapeHtml((await person.get(again)).html)).toContain('"gone": "value"')
  })

  it('says so if the arguments were not recorded, or the tool is gone', async () => {
    const { person, id } = await callAndOpen('plain', {})
    const { db } = patchbay.services
    await db.execution.update({ where: { id }, data: { arguments: null } })
    const path = `/servers/${serverId}/inspector?tool=plain&call=${id}`
    expect(textOf((await person.get(path)).html)).toContain('The arguments of this call were not recorded.')
    await db.execution.update({ where: { id }, data: { tool: 'renamed_since' } })
    const gone = await person.get(path)
    expect(gone.status).toBe(404)
    expect(textOf(gone.html)).toContain('The server no longer has the tool renamed_since.')
  })

  it('uses the tool that calls others where the server lists them in groups or by search', async () => {
    const { person, again } = await callAndOpen('book', { depot: 'Leipzig' })
    await owner.expectOk('PATCH', `/servers/${serverId}`, { presentation: 'search' })
    const found = unescapeHtml((await person.get(again)).html)
    expect(textOf(found)).toContain('This server does not list book. Clients call it with call_tool.')
    expect(found).toMatch(/"depot": "Leipzig"/)
    await owner.expectOk('PATCH', `/servers/${serverId}`, { presentation: 'grouped' })
    const grouped = await person.get(again)
    expect(textOf(grouped.html)).toContain('Clients call it with call_dynamic_tool.')
    expect(grouped.html).toMatch(/<textarea[^>]* name="argument:group"[^>]*>\s*Toolkit</)
    expect(grouped.html).toMatch(/<textarea[^>]* name="argument:name"[^>]*>\s*book</)
    await owner.expectOk('PATCH', `/servers/${serverId}`, { presentation: 'flat' })
  })

  it.each(['search', 'grouped'])('says that the tool is gone, also on a server with %s', async presentation => {
    const made = await makeServer(owner, [{ name: 'short_lived', method: 'GET', url: `${api.origin}/` }])
    const instanceId = made.instanceIds.short_lived
    await owner.expectOk('POST', `/instances/${instanceId}/call`, { arguments: {} })
    await owner.expectOk('PATCH', `/servers/${made.serverId}`, { presentation })
    await owner.expectOk('DELETE', `/instances/${instanceId}`)
    await patchbay.services.recorder.flush()
    const { db } = patchbay.services
    const { id } = await db.execution.findFirstOrThrow({ where: { serverId: made.serverId } })
    const person = await signIn()
    const gone = await person.get(`/servers/${made.serverId}/inspector?tool=short_lived&call=${id}`)
    expect([gone.status, textOf(gone.html)]).toEqual([
      404,
      expect.stringContaining('The server no longer has the tool short_lived.'),
    ])
  })

  it('shows a call only to those who may see it, and only on its own server', async () => {
    const { person, id, again } = await callAndOpen('book', { depot: 'Leipzig' })
    const other = await makeServer(owner, [{ name: 'book', method: 'GET', url: `${api.origin}/` }])
    expect((await person.get(`/servers/${other.serverId}/inspector?tool=book&call=${id}`)).status).toBe(404)
    const stranger = await signIn(await signUp(patchbay.origin))
    // The server is public, so strangers may use it, but not read its history.
    expect((await stranger.get(again)).status).toBe(404)
    expect((await person.get(`/servers/${serverId}/inspector?tool=book&call=nonsense`)).status).toBe(200)
  })
})
