import { describe, expect, it, vi } from 'vitest'
import type { Role } from '../../src/lib/kernel/roles.ts'
import { createPageBrowser, inputsOf, type PageResponse } from '../support/page-browser.ts'
import { during, runFakeApi, runPatchbay } from '../support/world.ts'
import { noteOf, openEditor, textareaOf } from './editor-page.ts'

vi.setConfig({ testTimeout: 30_000 })

const HOSTILE = `"><script>alert(1)</script>'<%= 1 %>&amp;`
const FRAGMENT = { 'hx-request': 'true' }

describe('the tool editor without scripts', () => {
  const patchbay = runPatchbay()
  const fake = runFakeApi()

  /** Signs up a user and adds them to an organization if one is given. */
  const makeUser = async (role?: Role, organizationId?: string) => {
    const { browser, email, userId } = await openEditor(patchbay.origin)
    const { db } = patchbay.services
    const own = await db.membership.findFirstOrThrow({ where: { userId } })
    if (role !== undefined && organizationId !== undefined) {
      await db.membership.create({ data: { organizationId, userId, role } })
    }
    return { browser, userId, organizationId: own.organizationId, email }
  }
  const visitor = during(() => openEditor(patchbay.origin))
  /** Opens the form of a new tool, as a user who never saves one. */
  const openForm = async () => {
    await visitor.browser.get('/toolkits/new-tool')
    return visitor.browser
  }
  const serverIdIn = ({ location = '' }: PageResponse): string => /\/servers\/([0-9a-f-]+)/.exec(location)?.[1] ?? ''
  const toolIdIn = ({ location = '' }: PageResponse): string => /\/tools\/([0-9a-f-]{36})/.exec(location)?.[1] ?? ''
  const makeTool = async (
    browser: Awaited<ReturnType<typeof makeUser>>['browser'],
    fields: Record<string, string> = {},
  ) => {
    const form = { name: 'echo', method: 'GET', url: `${fake.origin}/things/{{id}}`, toolkitTitle: 'Mine', ...fields }
    return toolIdIn(await browser.submit('/toolkits/new-tool', form))
  }

  it('a tool started from the page of a server preselects that server after saving', async () => {
    const { browser } = await makeUser()
    const server = await browser.submit('/servers/new', { name: 'Desk', access: 'private' })
    const serverId = serverIdIn(server)
    const { html } = await browser.get(`/toolkits/new-tool?server=${serverId}`)
    expect(html).toContain(`<option value="${serverId}" selected>Desk</option>`)
    const made = await browser.submit('/toolkits/new-tool', {
      name: 'get_thing',
      method: 'GET',
      url: `${fake.origin}/things`,
      toolkitTitle: 'Mine',
      serverId,
    })
    const shown = await browser.get(made.location ?? '')
    const offer = shown.html.slice(shown.html.indexOf('id="offer-server"'))
    expect(offer.slice(0, offer.indexOf('</select>'))).toContain(`<option value="${serverId}" selected>Desk</option>`)
  })

  it('a server of someone else is not preselected for a new tool', async () => {
    const { browser } = await makeUser()
    const { html } = await browser.get('/toolkits/new-tool?server=7f3c1a52-9d0e-4c8b-b6a4-2e51d7f08c93')
    expect(html).not.toContain('<option value="7f3c1a52')
  })

  it('a name and a URL are enough for a tool with its toolkit, which can then be added to a server', async () => {
    const { browser } = await makeUser()
    const form = inputsOf((await browser.get('/toolkits/new-tool')).html)
    expect(form.get('toolkitTitle')).toBe('My tools')
    const made = await browser.submit('/toolkits/new-tool', {
      name: 'get_thing',
      method: 'GET',
      url: `${fake.origin}/things`,
      toolkitTitle: form.get('toolkitTitle') ?? '',
    })
    expect(made).toMatchObject({
      status: 303,
      location: expect.stringMatching(/^\/tools\/[0-9a-f-]{36}\?done=created$/),
    })
    const page = await browser.get(made.location ?? '')
    expect(page.html).toContain('Add this tool to a server')
    expect(page.html).toContain('Not used by any server yet.')
    const offer = inputsOf(page.html)
    expect(offer.get('serverName')).toBe('My server')
    const id = toolIdIn(made)
    const offered = await browser.submit(`/tools/${id}/offer`, { server: 'new', serverName: 'Desk' })
    expect(offered).toMatchObject({
      status: 303,
      location: expect.stringMatching(/^\/servers\/[0-9a-f-]{36}\?done=offered$/),
    })
    const [instance, ...others] = await patchbay.services.db.instance.findMany({
      where: { toolId: id },
      include: { server: { include: { toolkits: true } } },
    })
    expect(instance).toMatchObject({ name: 'get_thing', server: { name: 'Desk', access: 'private' } })
    expect(instance?.server.toolkits).toHaveLength(1)
    expect(others).toEqual([])
    expect((await browser.get(`/tools/${id}`)).html).toContain(
      'Used by 1 server, with 0 open connections. Changes go live when you save.',
    )
    const again = await browser.submit(`/tools/${id}/offer`, { server: 'new', serverName: 'Desk' })
    expect(again.location).toBe(offered.location)
  })

  it('shows the parameters, the request and what the model sees, and sends it without saving', async () => {
    const { browser } = await makeUser()
    const typed = {
      name: 'echo',
      description: 'Repeats what it is told.',
      method: 'POST',
      url: `${fake.origin}/things/{{id}}?limit={{integer:limit=20}}`,
      headers: 'X-Who: {{who?}}',
      body: '{"note": {{json:note?}}}',
      'parameter:id:description': 'Which one',
      'parameter:id:example': 'a/b',
      'value:who': 'me',
    }
    const preview = await browser.submit('/tool-preview', typed)
    expect(preview.status).toBe(200)
    for (const [name, type, where] of [
      ['id', 'string', 'path'],
      ['limit', 'integer', 'query'],
      ['who', 'string', 'header'],
      ['note', 'json', 'body'],
    ]) {
      expect(preview.html).toMatch(
        new RegExp(
          `<code>${name}</code><span class="under">${where}</span></th>\\s*<td data-label="Type" data-type="${type}">`,
        ),
      )
    }
    expect(preview.html).toContain(`<b>POST</b> ${fake.origin}/things/a%2Fb?limit=20`)
    expect(preview.html).toContain('Repeats what it is told.')
    expect(preview.html).toMatch(/<b>\d+<\/b><span>tokens in every conversation, \d+ for the description/)
    expect(inputsOf(preview.html).get('parameter:id:description')).toBe('Which one')

    const seenBefore = fake.seen.length
    const sent = await browser.submit('/tool-send', typed)
    expect(sent.status).toBe(200)
    expect(sent.html).toContain('200 OK')
    expect(sent.html).toContain('<span class="key">&quot;url&quot;</span>: &quot;/things/a%2Fb?limit=20&quot;')
    expect(sent.html).toContain('value="curl --globoff')
    expect(fake.seen.slice(seenBefore)).toMatchObject([
      { method: 'POST', url: '/things/a%2Fb?limit=20', headers: { 'x-who': 'me' }, body: '{}' },
    ])
    expect(await patchbay.services.db.tool.count({ where: { name: 'echo', toolkit: { title: 'My tools' } } })).toBe(0)
  })

  it('returns only the changing parts to a script', async () => {
    const { browser } = await makeUser()
    const typed = { name: 'echo', method: 'GET', url: 'https://a.example/{id}/:other' }
    const { html, status } = await browser.submit('/tool-preview', typed, { ...FRAGMENT, origin: patchbay.origin })
    expect(status).toBe(200)
    expect(html).not.toContain('<html')
    expect(html).toContain('value="https://a.example/{{id}}/{{other}}"')
    await browser.get('/toolkits/new-tool')
    const placed = await browser.submit('/tool-preview', { ...typed, placedUrl: 'https://a.example/{{id}}/{{other}}' })
    expect(textareaOf(placed.html, 'url')).toBe('https://a.example/{{id}}/{{other}}')
  })

  it('saves edited fields, keeps others, and shows which servers use it', async () => {
    const { browser } = await makeUser()
    const id = await makeTool(browser, { 'parameter:id:enum': 'a\r\nb', 'parameter:id:description': 'Which' })
    const { db, tools } = patchbay.services
    const page = await browser.get(`/tools/${id}`)
    const inputs = Object.fromEntries(inputsOf(page.html))
    expect(textareaOf(page.html, 'parameter:id:enum')).toBe('a\nb')
    const saved = await browser.submit(`/tools/${id}`, {
      ...inputs,
      method: 'PUT',
      url: textareaOf(page.html, 'url'),
      headers: 'Accept: application/json\r\nX-A:b',
      'parameter:id:enum': textareaOf(page.html, 'parameter:id:enum'),
      readOnlyHint: 'no',
      timeoutMs: '1,500',
      retries: '2',
      callPrice: '1,000.005',
      outputSchema: '{"type": "object"}',
      cursorParameter: 'id',
      cursorPath: 'meta.next',
      allowedOrigins: 'https://a.example',
    })
    expect(saved).toMatchObject({ status: 303, location: `/tools/${id}?done=saved` })
    expect((await browser.get(saved.location ?? '')).html).toContain('Saved. Not used by any server yet.')
    const { organizationId } = await db.toolkit.findFirstOrThrow({ where: { tools: { some: { id } } } })
    const memberships = new Map([[organizationId, 'owner' as const]])
    const actor = {
      userId: '',
      email: '',
      isOperator: false,
      isUnconfirmed: false,
      scopes: new Set<never>(),
      memberships,
    }
    expect(await tools.getTool(actor, id)).toMatchObject({
      method: 'PUT',
      headers: [
        { name: 'Accept', value: 'application/json' },
        { name: 'X-A', value: 'b' },
      ],
      timeoutMs: 1_500,
      retries: 2,
      callPrice: 1_000.005,
      parameters: { id: { description: 'Which', enum: ['a', 'b'] } },
      annotations: { readOnlyHint: false },
      outputSchema: { type: 'object' },
      pagination: { parameter: 'id', at: 'meta.next' },
      allowedOrigins: ['https://a.example'],
    })
    for (const [typed, field, sentence] of [
      [{ cursorParameter: 'page', cursorPath: 'a' }, 'cursorParameter', 'is not a parameter of the template.'],
      [{ cursorParameter: 'id', cursorPath: '' }, 'cursorPath', 'The path to the cursor is empty.'],
      [{ cursorParameter: 'id', cursorPath: 'a[' }, 'cursorPath', 'is not a path: column 2'],
    ] as const) {
      const refused = await browser.submit(`/tools/${id}`, {
        ...inputs,
        url: 'https://a.example/{{id}}',
        method: 'PUT',
        version: '',
        ...typed,
      })
      expect(noteOf(refused.html, field)).toContain(sentence)
    }
  })

  it.each<[string, Record<string, string>, string, RegExp]>([
    ['no name', { name: '' }, 'name', /The name must be 1 to 64 characters/],
    ['an invalid name', { name: 'مكتب 🚚' }, 'name', /The name must be 1 to 64 characters/],
    ['no URL', { url: ' ' }, 'url', /The URL is empty/],
    ['an unclosed placeholder', { url: 'https://a.example/{{id' }, 'url', /Line 1, column 19: .*add the closing/],
    ['a relative URL', { url: 'a.example' }, 'url', /Line 1, column 1: the URL is not absolute: start it with https/],
    ['a header without a name', { headers: 'Accept: a\n\nnonsense' }, 'headers', /Line 3, column 1: write Name: value/],
    ['a forbidden header', { headers: 'A: b\nHost: evil' }, 'headers', /Line 2, column 1: /],
    [
      'two types for one name',
      { headers: 'X:  {{number:id}}' },
      'headers',
      /string in the URL \(line 1, column 19\), but number in the headers \(line 1, column 5\)/,
    ],
    [
      'two types, also shown beside the first placeholder',
      { headers: 'X:  {{number:id}}' },
      'url',
      /but number in the headers \(line 1, column 5\)/,
    ],
    ['too many retries', { retries: '4' }, 'retries', /The number of retries must be a whole number from 0 to 3/],
    [
      'retries of a POST',
      { method: 'POST', retries: '1' },
      'retries',
      /The number of retries only applies to the methods GET/,
    ],
    [
      'a price with a decimal comma',
      { callPrice: '0,005' },
      'callPrice',
      /The price per call must be a number from 0 to/,
    ],
    ['an invalid timeout', { timeoutMs: 'soon' }, 'timeoutMs', /must be a whole number/],
    ['a timeout above the limit', { timeoutMs: '300001' }, 'timeoutMs', /must be at most 300000/],
    [
      'a schema with a trailing comma',
      { outputSchema: '{\n  "type": "object",\n}' },
      'outputSchema',
      /Line 2, column 19: delete this comma: } follows/,
    ],
    [
      'a schema that cannot be compiled',
      { outputSchema: '{"properties": {"a": {"$ref": "#/$defs/none"}}}' },
      'outputSchema',
      /The output schema refers to .+none.+ at \/properties\/a, which is not in the schema\. Define it there/,
    ],
    [
      'an invalid origin',
      { allowedOrigins: 'https://a.example\nnowhere' },
      'allowedOrigins',
      /Line 2 must be an origin/,
    ],
    [
      'a JSON body with a trailing comma',
      { method: 'POST', headers: 'Content-Type: application/json', body: '{"a": 1,}' },
      'body',
      /Line 1, column \d+: the body is not valid JSON/,
    ],
    ['a long title', { title: 'x'.repeat(201) }, 'title', /The title is longer than 200 characters/],
  ])('with %s it shows the error beside the field and keeps all input', async (_what, wrong, field, sentence) => {
    const browser = await openForm()
    const typed = {
      name: 'echo',
      method: 'GET',
      url: 'https://a.example/{{id}}',
      description: HOSTILE,
      toolkitTitle: 'Mine',
      ...wrong,
    }
    const answer = await browser.submit('/toolkits/new-tool', typed)
    expect(answer.status).toBe(400)
    expect(noteOf(answer.html, field)).toMatch(sentence)
    expect(textareaOf(answer.html, 'description')).toBe(HOSTILE)
    expect(textareaOf(answer.html, 'url')).toBe(typed.url)
    expect(answer.html).not.toContain('<script>alert')
    expect(answer.html).toContain('data-unsaved')
  })

  it('names the limit that was exceeded, and keeps the input', async () => {
    const browser = await openForm()
    const form = { name: 'long', method: 'POST', url: 'https://a.example/', toolkitTitle: 'Mine' }
    const body = await browser.submit('/toolkits/new-tool', { ...form, body: 'x'.repeat(262_145) })
    expect(body.status).toBe(400)
    expect(noteOf(body.html, 'body')).toBe('Line 1, column 1: this is longer than 262144 characters.')
    expect(textareaOf(body.html, 'body')).toHaveLength(262_145)
    const whole = await browser.submit('/toolkits/new-tool', { ...form, body: 'x'.repeat(262_100) })
    expect(whole.status).toBe(400)
    expect(whole.html).toContain('A tool can have at most 262144 bytes as JSON in total.')
    const header = await browser.submit('/toolkits/new-tool', {
      ...form,
      headers: `A: b\nX-Long: ${'x'.repeat(9_000)}`,
    })
    expect(noteOf(header.html, 'headers')).toMatch(/^Line 2, column 9: this is longer than 8192 characters\.$/)
    const tooLarge = await browser.submit('/tool-preview', { ...form, body: 'x'.repeat(800_000) })
    expect(tooLarge.status).toBe(413)
  })

  it.each([
    ['a line of spaces without a colon', { headers: `A${' '.repeat(4_000)}b` }, 'headers', /write Name: value/],
    ['spaces in a value', { headers: `A: b${' '.repeat(200_000)}c` }, 'headers', /longer than 8192 characters/],
    [
      'lines that are not headers',
      { headers: 'nonsense\n'.repeat(60_000) },
      'headers',
      /Line 200, column 1: write Name: value\.$/,
    ],
    ['unclosed placeholders', { body: `[${'{{'.repeat(60_000)}` }, 'body', /add the closing/],
    [
      'alternating punctuation and line breaks',
      { description: `!${'/\n'.repeat(60_000)}` },
      'description',
      /longer than 10,000/,
    ],
  ])('reports %s of any length in the preview', async (_what, typed, field, sentence) => {
    const browser = await openForm()
    const form = { method: 'POST', url: 'https://a.example/?j={{json:j?}}', ...typed }
    const { status, html } = await browser.submit('/tool-preview', form)
    expect(status).toBe(200)
    expect(noteOf(html, field)).toMatch(sentence)
  })

  it('shows only as many parameters as a tool may have', async () => {
    const browser = await openForm()
    const body = Array.from({ length: 20_000 }, (_, index) => `{{p${index}}}`).join('')
    const { html } = await browser.submit('/tool-preview', { method: 'POST', url: 'https://a.example/', body })
    expect(noteOf(html, 'body')).toContain('more than 256 parameters')
    expect(html).toContain('name="parameter:p255:description"')
    expect(html).not.toContain('p256:')
  })

  it('accepts only yes and no for annotations', async () => {
    const { browser } = await makeUser()
    const hints = { readOnlyHint: 'constructor', destructiveHint: '__proto__', openWorldHint: 'no' }
    const id = await makeTool(browser, hints)
    const tool = await patchbay.services.db.tool.findUniqueOrThrow({ where: { id } })
    expect(tool.definition).toMatchObject({ annotations: { openWorldHint: false } })
    expect(JSON.stringify(tool.definition)).not.toMatch(/readOnlyHint|destructiveHint/)
  })

  it.each([
    ['of the right type', '1', /Lists more than 500 values\./],
    ['that are invalid', '{', /Value 1 is not valid JSON: .*value 501 is not valid JSON/is],
  ])('limits how many enum values %s it checks in the preview', async (_what, value, sentence) => {
    const browser = await openForm()
    const form = { method: 'GET', url: 'https://a.example/?j={{json:j?}}' }
    const { html } = await browser.submit('/tool-preview', { ...form, 'parameter:j:enum': `${value}\n`.repeat(60_000) })
    expect(html).toMatch(sentence)
    expect(html).not.toMatch(/value 502/i)
  })

  it('shows errors of a parameter beside it, in open details', async () => {
    const browser = await openForm()
    const answer = await browser.submit('/toolkits/new-tool', {
      name: 'echo',
      method: 'GET',
      url: 'https://a.example/?n={{integer:n}}&j={{json:j?}}',
      toolkitTitle: 'Mine',
      'parameter:n:minimum': 'low',
      'parameter:n:default': 'many',
      'parameter:j:example': '{"a": 1,}',
    })
    expect(answer.status).toBe(400)
    expect(answer.html).toContain('The minimum must be a number, such as 100.')
    expect(answer.html).toContain('The example is not valid JSON: line 1, column 8: delete this comma: } follows.')
    expect(answer.html).toMatch(/<details class="fold" id="more:n" open>/)
    expect(textareaOf(answer.html, 'parameter:n:default')).toBe('many')
    const ofType = await browser.submit('/tool-preview', {
      method: 'GET',
      url: 'https://a.example/?n={{integer:n}}',
      'parameter:n:default': 'many',
    })
    expect(ofType.html).toContain('The default must be an integer, got a string that is not one.')
  })

  it('warns that a body with invalid JSON is sent as text, and shows where the error is', async () => {
    const browser = await openForm()
    const body = '{\r\n  "a": {{json:a}},\r\n  "b": [1, 2,],\r\n}'
    const { html } = await browser.submit('/tool-preview', { method: 'POST', url: 'https://a.example/', body })
    expect(noteOf(html, 'body')).toBe(
      'Sent as text because it is not valid JSON: line 3, column 13: delete this comma: ] follows.',
    )
  })

  it('shows markup, right-to-left text and emoji as text everywhere', async () => {
    const { browser } = await makeUser()
    const name = 'مكتب الشحن 🚚'
    const id = await makeTool(browser, {
      title: HOSTILE,
      description: `${HOSTILE} ${name}`,
      headers: `X-A: ${HOSTILE}`,
      toolkitTitle: `${HOSTILE} ${name}`,
      'parameter:id:description': HOSTILE,
      'parameter:id:example': HOSTILE,
    })
    expect(id).not.toBe('')
    const page = await browser.get(`/tools/${id}`)
    const sent = await browser.submit('/tool-send', {
      tool: id,
      method: 'POST',
      url: `${fake.origin}/{{id}}`,
      body: HOSTILE,
      'value:id': HOSTILE,
    })
    for (const { html, status } of [page, sent, await browser.get(`/tools/${id}/removal`)]) {
      expect(status).toBe(200)
      expect(html).not.toContain('<script>alert')
    }
    expect(sent.html).toContain('200 OK')
    expect(textareaOf(page.html, 'description')).toBe(`${HOSTILE} ${name}`)
  })

  it('creates one tool if a form is submitted twice, and reports a name that is taken', async () => {
    const { browser, organizationId } = await makeUser()
    const { db } = patchbay.services
    const form = { name: 'twice', method: 'GET', url: 'https://a.example/', toolkitTitle: 'Twice' }
    const [first, second] = [
      await browser.submit('/toolkits/new-tool', form),
      await browser.submit('/toolkits/new-tool', form),
    ]
    expect(second.location).toBe(first.location)
    expect(await db.toolkit.count({ where: { organizationId, title: 'Twice' } })).toBe(1)
    const { toolkitId } = await db.tool.findUniqueOrThrow({ where: { id: toolIdIn(first) } })
    const path = `/toolkits/${toolkitId}/tools/new`
    const again = await browser.submit(path, form)
    expect(again).toMatchObject({ status: 303, location: first.location })
    const other = await browser.submit(path, { ...form, method: 'POST' })
    expect(other.status).toBe(409)
    expect(noteOf(other.html, 'name')).toBe('The name is already used in this toolkit.')
    expect(await db.tool.count({ where: { toolkitId } })).toBe(1)
  })

  it('shows both versions when two users edit one tool, and overwrites only after that', async () => {
    const first = await makeUser()
    const second = await makeUser('builder', first.organizationId)
    const id = await makeTool(first.browser)
    const [mine, theirs] = [await first.browser.get(`/tools/${id}`), await second.browser.get(`/tools/${id}`)]
    const formOf = ({ html }: PageResponse, description: string) => ({
      ...Object.fromEntries([...inputsOf(html)].filter(([name]) => name !== '_csrf')),
      method: 'GET',
      url: textareaOf(html, 'url'),
      description,
    })
    expect((await second.browser.submit(`/tools/${id}`, formOf(theirs, 'Theirs'))).status).toBe(303)
    const refused = await first.browser.submit(`/tools/${id}`, formOf(mine, `Mine ${HOSTILE}`))
    expect(refused.status).toBe(409)
    expect(refused.html).toContain('Someone else saved changes while you were editing')
    expect(refused.html).toContain('<del>Theirs</del>')
    expect(refused.html).toMatch(/<ins>Mine &quot;&gt;&lt;script&gt;/)
    expect(refused.html).toContain('The same in both: Name, Method, URL.')
    expect(textareaOf(refused.html, 'description')).toBe(`Mine ${HOSTILE}`)
    const { db } = patchbay.services
    expect(await db.tool.findUniqueOrThrow({ where: { id } })).toMatchObject({ description: 'Theirs' })
    expect((await first.browser.submit(`/tools/${id}`, formOf(refused, 'Mine'))).status).toBe(303)
    expect(await db.tool.findUniqueOrThrow({ where: { id } })).toMatchObject({ description: 'Mine' })
  })

  it('is tried with the bindings of a server, with secrets masked and hidden from the model', async () => {
    const { browser, organizationId } = await makeUser()
    const { globals, instances, servers } = patchbay.services
    const id = await makeTool(browser, { url: `${fake.origin}/{{id}}?key={{key}}&fixed={{f}}` })
    const memberships = new Map([[organizationId, 'owner' as const]])
    const { id: userId } = await patchbay.services.db.user.findFirstOrThrow({
      where: { memberships: { some: { organizationId } } },
    })
    const actor = { userId, email: '', isOperator: false, isUnconfirmed: false, scopes: new Set<never>(), memberships }
    const input = { name: 'Desk', access: 'private' as const, presentation: 'flat' as const, allowedUsers: [] }
    const server = await servers.createServer(actor, input)
    await globals.putGlobal(actor, server.id, 'token', { value: 'sk-secret-0123456789', secret: true })
    await instances.createInstance(actor, server.id, {
      toolId: id,
      name: 'echo_here',
      bindings: { key: { source: 'server', key: 'token' }, f: { source: 'instance', value: 'fix' } },
    })
    const page = await browser.get(`/tools/${id}`)
    expect(page.html).toContain('in Desk')
    expect(page.html).toContain('<b>echo_here</b>')
    expect(page.html).toMatch(/Hidden from the model.*data-source="secret".*<code>key<\/code>.*data-source="fixed"/s)
    const typed = { tool: id, method: 'GET', url: textareaOf(page.html, 'url'), serverId: server.id, 'value:id': '7' }
    const before = fake.seen.length
    const sent = await browser.submit('/tool-send', typed)
    expect(fake.seen.slice(before)).toMatchObject([{ url: '/7?key=sk-secret-0123456789&fixed=fix' }])
    for (const { html } of [page, sent]) expect(html).not.toContain('sk-secret')
    expect(sent.html).toContain('<span class="mask">••••••••</span>')
  })

  it('shows why there was no response, as the model would read it', async () => {
    const { browser } = await makeUser()
    const { html } = await browser.submit('/tool-send', { method: 'GET', url: 'http://169.254.1.1/' })
    expect(html).toMatch(/data-state="rejected">Blocked<\/span>/)
    expect(html).toMatch(/role="alert">.*169\.254\.1\.1/s)
  })

  it('shows on how many open connections a change goes live', async () => {
    const { browser } = await makeUser()
    const id = await makeTool(browser)
    const offered = await browser.submit(`/tools/${id}/offer`, { server: 'new', serverName: 'Desk' })
    const serverId = serverIdIn(offered)
    await patchbay.services.db.server.update({ where: { id: serverId }, data: { access: 'public' } })
    const stream = await fetch(`${patchbay.origin}/s/${serverId}/sse`, { headers: { accept: 'text/event-stream' } })
    expect(stream.status).toBe(200)
    expect((await browser.get(`/tools/${id}`)).html).toContain(
      'Used by 1 server, with 1 open connection. Changes go live when you save.',
    )
    expect((await browser.get(`/tools/${id}?done=saved`)).html).toContain(
      'Saved. Live on 1 server, with 1 open connection.',
    )
    await stream.body?.cancel()
  })

  it('duplicates a tool under the next free name', async () => {
    const { browser } = await makeUser()
    const id = await makeTool(browser, { 'parameter:id:description': 'Which' })
    const copy = await browser.submit(`/tools/${id}/duplicate`, {})
    expect(copy.location).toMatch(/\?done=duplicated$/)
    const page = await browser.get(copy.location ?? '')
    expect(inputsOf(page.html).get('name')).toBe('echo_2')
    expect(inputsOf(page.html).get('parameter:id:description')).toBe('Which')
  })

  it('deletes a tool after its name is typed, once no server uses it', async () => {
    const { browser } = await makeUser()
    const id = await makeTool(browser)
    const offered = await browser.submit(`/tools/${id}/offer`, { server: 'new', serverName: 'Desk' })
    const inUse = await browser.get(`/tools/${id}/removal`)
    expect(inUse.html).toContain('<bdi>Desk</bdi></a> <span class="faint">as echo</span>')
    expect(inUse.html).not.toContain('name="sure"')
    const refused = await browser.submit(`/tools/${id}/removal`, { sure: 'echo' })
    expect(refused.status).toBe(409)
    expect(refused.html).toContain('is in use by &quot;Desk&quot;')
    await patchbay.services.db.instance.deleteMany({ where: { toolId: id } })
    const mistyped = await browser.submit(`/tools/${id}/removal`, { sure: 'ecko' })
    expect(mistyped.status).toBe(400)
    expect(inputsOf(mistyped.html).get('sure')).toBe('ecko')
    const done = await browser.submit(`/tools/${id}/removal`, { sure: 'echo' })
    expect(done.location).toMatch(/^\/toolkits\/[0-9a-f-]{36}\?done=tool-removed$/)
    expect((await browser.get(`/tools/${id}`)).status).toBe(404)
    expect(offered.status).toBe(303)
  })

  it('shows an error if a tool cannot be added: no name, a foreign server; a name that is taken gets a number', async () => {
    const { browser } = await makeUser()
    const other = await makeUser()
    const id = await makeTool(browser)
    const unnamed = await browser.submit(`/tools/${id}/offer`, { server: 'new', serverName: ' ' })
    expect(unnamed.status).toBe(400)
    expect(unnamed.html).toMatch(/id="offer-error".*The name /s)
    const theirs = await other.browser.submit(`/tools/${await makeTool(other.browser)}/offer`, {
      server: 'new',
      serverName: 'Theirs',
    })
    const theirServer = serverIdIn(theirs)
    expect((await browser.submit(`/tools/${id}/offer`, { server: theirServer })).status).toBe(404)
    const offered = await browser.submit(`/tools/${id}/offer`, { server: 'new', serverName: 'Desk' })
    const desk = serverIdIn(offered)
    const namesake = await makeTool(browser, { toolkitTitle: 'Other' })
    const taken = await browser.submit(`/tools/${namesake}/offer`, { server: desk })
    expect(taken.status).toBe(303)
    expect((await browser.get(`/servers/${desk}/tools`)).html).toContain('echo_2')
  })

  it('lets viewers only view it, and others not at all', async () => {
    const owner = await makeUser()
    const viewer = await makeUser('viewer', owner.organizationId)
    const stranger = await makeUser()
    const id = await makeTool(owner.browser)
    const { toolkitId } = await patchbay.services.db.tool.findUniqueOrThrow({ where: { id } })
    const shown = await viewer.browser.get(`/tools/${id}`)
    expect(shown.status).toBe(200)
    expect(shown.html).toContain('You can view this tool, but not change it.')
    expect(shown.html).not.toContain('id="save"')
    const form = { name: 'echo', method: 'GET', url: 'https://evil.example/' }
    const seen = fake.seen.length
    for (const [browser, status] of [
      [viewer.browser, 403],
      [stranger.browser, 404],
    ] as const) {
      expect((await browser.submit(`/tools/${id}`, form)).status).toBe(status)
      expect((await browser.submit(`/tools/${id}/duplicate`, {})).status).toBe(status)
      expect((await browser.submit(`/tools/${id}/offer`, { server: 'new', serverName: 'x' })).status).toBe(status)
      expect((await browser.submit(`/tools/${id}/removal`, { sure: 'echo' })).status).toBe(status)
      expect((await browser.submit(`/toolkits/${toolkitId}/tools/new`, form)).status).toBe(status)
      const draft = { ...form, url: `${fake.origin}/`, tool: id }
      expect((await browser.submit('/tool-send', draft)).status).toBe(status)
      expect((await browser.submit('/tool-send', { ...draft, tool: '', toolkit: toolkitId })).status).toBe(status)
      const elsewhere = { ...draft, tool: '', organizationId: owner.organizationId }
      expect((await browser.submit('/tool-send', elsewhere)).status).toBe(status)
    }
    expect(fake.seen.length).toBe(seen)
    expect((await stranger.browser.get(`/tools/${id}`)).status).toBe(404)
    await patchbay.services.db.toolkit.update({ where: { id: toolkitId }, data: { visibility: 'public' } })
    expect((await stranger.browser.get(`/tools/${id}`)).html).toContain('You can view this tool')
  })

  it('does not use a server’s secrets for a tool of another organization', async () => {
    const owner = await makeUser()
    const both = await makeUser('builder', owner.organizationId)
    const offered = await owner.browser.submit(`/tools/${await makeTool(owner.browser)}/offer`, {
      server: 'new',
      serverName: 'Desk',
    })
    const serverId = serverIdIn(offered)
    await patchbay.services.db.server.update({ where: { id: serverId }, data: { access: 'organization' } })
    const draft = { method: 'GET', url: `${fake.origin}/?key={{key?}}`, serverId, organizationId: both.organizationId }
    const before = fake.seen.length
    expect((await both.browser.submit('/tool-send', draft)).status).toBe(404)
    expect((await both.browser.submit('/tool-preview', draft)).status).toBe(404)
    expect(fake.seen.length).toBe(before)
  })

  it('redirects signed-out users to sign in, and returns 401 to a script', async () => {
    const browser = createPageBrowser(patchbay.origin)
    expect(await browser.submit('/tool-preview', {})).toMatchObject({ status: 303, location: '/sign-in' })
    const response = await browser.submit('/tool-preview', {}, { ...FRAGMENT, origin: patchbay.origin })
    expect(response.status).toBe(401)
    expect(response.html).toContain('Your entries are kept')
  })
})
