import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { makeServer, signUp } from '../support/api-client.ts'
import { launchChromium } from '../support/chromium.ts'
import { answerJson } from '../support/fake-api.ts'
import { createPageBrowser } from '../support/page-browser.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const PASSWORD = 'correct horse battery staple'
const HOSTILE = '<script>alert(1)</script><img src=x onerror=alert(2)>'

/** Short as JSON, but several megabytes when indented. */
const DEEP = '['.repeat(2_000) + ']'.repeat(2_000)

const MANY = {
  name: 'many_kinds',
  title: 'Many kinds',
  description: `Takes one of each. ${HOSTILE}`,
  method: 'POST',
  body: '{"text": "{{text}}", "count": {{integer:count=3}}, "share": {{number:share?}}, "on": {{boolean:on?}}, "unit": "{{unit?}}", "filter": {{json:filter?}}}',
  parameters: {
    text: { description: `Any text ${HOSTILE}` },
    count: { description: 'How many', minimum: 1, maximum: 10 },
    unit: { enum: ['kg', 'lb'] },
  },
}

describe('the inspector of a server', () => {
  const patchbay = runPatchbay()
  const api = runFakeApi(({ url, body }, response) => {
    if (url.startsWith('/huge')) answerJson(response, { text: 'x'.repeat(300_000) })
    else if (url.startsWith('/deep')) response.writeHead(200, { 'content-type': 'text/plain' }).end(DEEP)
    else if (url.startsWith('/hostile')) response.writeHead(200, { 'content-type': 'text/plain' }).end(HOSTILE)
    else if (url.startsWith('/broken')) answerJson(response, { reason: HOSTILE }, 500)
    else if (url.startsWith('/picture')) response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.alloc(10))
    else answerJson(response, { got: body === '' ? null : JSON.parse(body) })
  })
  let serverId: string
  let path: string
  let browser: Browser

  const toolsOf = (origin: string) => [
    { ...MANY, url: `${origin}/echo` },
    ...['huge', 'hostile', 'broken', 'picture', 'deep'].map(name => ({
      name,
      method: 'GET',
      url: `${origin}/${name}`,
    })),
  ]
  const signIn = async (email: string) => {
    const person = createPageBrowser(patchbay.origin)
    await person.submit('/sign-in', { email, password: PASSWORD })
    return person
  }

  const owner = runUser(patchbay)
  beforeAll(async () => {
    const made = await makeServer(owner, toolsOf(api.origin), { server: { name: HOSTILE, access: 'private' } })
    serverId = made.serverId
    path = `/servers/${serverId}/inspector`
    browser = await launchChromium()
  })
  afterAll(() => browser?.close())

  it('lists and searches what a client sees', async () => {
    const person = await signIn(owner.email)
    const { status, html } = await person.get(path)
    expect(status).toBe(200)
    for (const name of ['many_kinds', 'huge', 'hostile', 'broken']) expect(html).toContain(`<code>${name}</code>`)
    expect(html).toContain('6 tools')
    expect(html).toContain('server/discover')
    expect(html).toContain('tools/list')
    expect(html).not.toContain('<script>alert')
    expect(html).not.toContain('<img src=x')
    const found = (await person.get(`${path}?q=HUGE`)).html
    expect(found).toContain('1 tool of 6')
    expect(found).not.toContain('<code>broken</code>')
    expect((await person.get(`${path}?q=nothing-like-it`)).html).toContain('No tools match.')
    expect((await person.get(`${path}?tool=gone`)).status).toBe(404)
  })

  it('builds a form from the schema, calls the tool, and shows result and messages without scripts', async () => {
    const person = await signIn(owner.email)
    const form = (await person.get(`${path}?tool=many_kinds`)).html
    expect(form).toContain('1 to 10')
    expect(form).toContain('default 3')
    expect(form).toContain('&lt;script&gt;alert(1)')
    expect(form).not.toContain('<script>alert')
    const done = await person.submit(`${path}?tool=many_kinds`, {
      'argument:text': '{{not a place}} "quoted"',
      'argument:count': '7',
      'argument:share': '0.5',
      'argument:on': 'true',
      'argument:unit': '"kg"',
      'argument:filter': '{"a": [1, null]}',
    })
    expect(done.status).toBe(200)
    const sent = JSON.parse(api.seen.at(-1)?.body ?? '')
    expect(sent).toEqual({
      text: '{{not a place}} "quoted"',
      count: 7,
      share: 0.5,
      on: true,
      unit: 'kg',
      filter: { a: [1, null] },
    })
    expect(done.html).toContain('&quot;method&quot;: &quot;tools/call&quot;')
    expect(done.html).toContain('io.modelcontextprotocol/clientInfo')
    expect(done.html).toContain('&quot;resultType&quot;: &quot;complete&quot;')
    expect(done.html).toMatch(/\d\d:\d\d:\d\d\.\d{3}/)
  })

  it("is recorded in the history with the user and the client's name", async () => {
    const person = await signIn(owner.email)
    await person.get(`${path}?tool=hostile`)
    await person.submit(`${path}?tool=hostile`, {})
    await patchbay.services.recorder.flush()
    const { body } = await owner.send('GET', `/servers/${serverId}/executions?tool=hostile`)
    expect(body).toMatchObject({
      items: [{ tool: 'hostile', caller: owner.userId, client: expect.stringMatching(/^Patchbay inspector\//) }],
    })
  })

  it('shows errors beside invalid fields, keeps the input, and calls nothing', async () => {
    const person = await signIn(owner.email)
    await person.get(`${path}?tool=many_kinds`)
    const before = api.seen.length
    const refused = await person.submit(`${path}?tool=many_kinds`, {
      'argument:text': '',
      'argument:count': '11',
      'argument:share': 'half',
      'argument:on': 'maybe',
      'argument:unit': '"stone"',
      'argument:filter': '{\n  "a": 1,\n}',
    })
    expect(refused.status).toBe(400)
    for (const said of [
      'text is required.',
      'count must be at most 10.',
      'share must be a number, such as 1.5.',
      'on must be an option from the list.',
      'unit must be an option from the list.',
      'filter is not JSON: line 2, column 9: delete this comma: } follows.',
    ]) {
      expect(refused.html).toContain(said)
    }
    expect(refused.html).toContain('value="half"')
    expect(api.seen.length).toBe(before)
  })

  it("accepts all arguments as JSON, and shows the server's errors", async () => {
    const person = await signIn(owner.email)
    const form = await person.get(`${path}?tool=many_kinds&as=json`)
    expect(form.html).toContain('&quot;text&quot;: &quot;&quot;')
    const wrong = await person.submit(`${path}?tool=many_kinds&as=json`, { arguments: '{"text": "x", "odd": 1}' })
    expect(wrong.status).toBe(200)
    expect(wrong.html).toContain('data-state="rejected">Invalid arguments<')
    expect(wrong.html).toContain('odd')
    const comma = await person.submit(`${path}?tool=many_kinds&as=json`, { arguments: '{"text": "x",}' })
    expect(comma.html).toContain('line 1, column 13: delete this comma: } follows')
    expect((await person.submit(`${path}?tool=many_kinds&as=json`, { arguments: '[1]' })).html).toContain(
      'must be an object',
    )
    const deep = '['.repeat(100) + ']'.repeat(100)
    const tooDeep = await person.submit(`${path}?tool=many_kinds&as=json`, { arguments: `{"text": ${deep}}` })
    expect(tooDeep.status).toBe(400)
    expect(tooDeep.html).toContain('nested more than 64 levels deep')
  })

  it('shows hostile results as text and images as images, and cuts huge results with a note', async () => {
    const person = await signIn(owner.email)
    await person.get(path)
    const hostile = await person.submit(`${path}?tool=hostile`, {})
    expect(hostile.html).toContain('&lt;script&gt;alert(1)')
    const broken = await person.submit(`${path}?tool=broken`, {})
    expect(broken.html).toContain('data-state="failed"')
    for (const { html } of [hostile, broken]) expect(html).not.toMatch(/<script>alert|<img src=x/)
    const huge = await person.submit(`${path}?tool=huge`, {})
    expect(huge.html).toContain('The first 20,000 of 300,011 characters are shown.')
    expect(huge.html.length).toBeLessThan(150_000)
    const deep = await person.submit(`${path}?tool=deep`, {})
    expect(deep.html).toContain(DEEP)
    expect((await person.submit(`${path}?tool=picture`, {})).html).toContain('src="data:image/png;base64,')
  })

  it('is only for users who may use the server', async () => {
    const { db } = patchbay.services
    const { organizationId } = await db.server.findUniqueOrThrow({ where: { id: serverId } })
    const [stranger, viewer] = [await signUp(patchbay.origin), await signUp(patchbay.origin)]
    await db.membership.create({ data: { organizationId, userId: viewer.userId, role: 'viewer' } })
    const before = api.seen.length
    const nobody = createPageBrowser(patchbay.origin)
    expect((await nobody.get(path)).location).toContain('/sign-in')
    expect((await nobody.submit(`${path}?tool=hostile`, {})).status).toBe(303)
    const foreign = await signIn(stranger.email)
    expect((await foreign.get(path)).status).toBe(404)
    const member = await signIn(viewer.email)
    const shut = await member.get(path)
    expect(shut.status).toBe(403)
    expect(shut.html).toContain('This server is private.')
    expect(shut.html).not.toContain('many_kinds')
    expect((await member.submit(`${path}?tool=hostile`, {})).status).toBe(403)
    expect(api.seen.length).toBe(before)
    await owner.expectOk('PATCH', `/servers/${serverId}`, { allowedUsers: [viewer.userId] })
    expect((await member.get(path)).status).toBe(200)
    expect((await member.submit(`${path}?tool=hostile`, { _csrf: 'x' })).status).toBe(403)
    expect(api.seen.length).toBe(before)
    expect((await member.submit(`${path}?tool=hostile`, {})).status).toBe(200)
    expect(api.seen.length).toBe(before + 1)
    await owner.expectOk('PATCH', `/servers/${serverId}`, { allowedUsers: [] })
    expect((await member.get(path)).status).toBe(403)
  })

  const open = async (options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> => {
    const context = await browser.newContext({ baseURL: patchbay.origin, ...options })
    const page = await context.newPage()
    page.setDefaultTimeout(20_000)
    await page.goto(`/sign-in?${new URLSearchParams({ return_to: path })}`)
    await page.getByLabel('Email').fill(owner.email)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(`**${path}`)
    return page
  }

  it.each([true, false])('works in a real browser with scripts %s', async javaScriptEnabled => {
    const page = await open({ javaScriptEnabled })
    const alarms: string[] = []
    // The browser console reports the status of a rejected form, which is expected here.
    page.on('console', message => /status of 400/.test(message.text()) || alarms.push(message.text()))
    page.on('dialog', dialog => alarms.push(dialog.message()))
    await page.getByRole('link', { name: 'many_kinds' }).click()
    await page.getByLabel('text', { exact: true }).fill('from the browser')
    await page.getByLabel('unit, optional').selectOption('lb')
    await page.getByLabel('filter, optional').fill('{"a": 1,}')
    await page.getByRole('button', { name: 'Call the tool' }).click()
    await page.getByText('delete this comma').waitFor()
    expect(await page.getByLabel('text', { exact: true }).inputValue()).toBe('from the browser')
    await page.getByLabel('filter, optional').fill('{"a": 1}')
    await page.getByRole('button', { name: 'Call the tool' }).click()
    await page.getByRole('heading', { name: 'Result', exact: true }).waitFor()
    await page.getByRole('region', { name: 'Block 1' }).getByText('from the browser').waitFor()
    expect(await page.getByLabel('text', { exact: true }).inputValue()).toBe('from the browser')
    expect(alarms).toEqual([])
    await page.context().close()
  })

  it('lists a server of 2,000 tools page by page', async () => {
    const { db } = patchbay.services
    const large = await makeServer(owner, [{ name: 'first', method: 'GET', url: `${api.origin}/echo` }])
    const toolId = large.toolIds.first ?? ''
    await db.instance.createMany({
      data: Array.from({ length: 1_999 }, (_, index) => ({
        serverId: large.serverId,
        toolId,
        name: `tool_${String(index).padStart(4, '0')}`,
      })),
    })
    await owner.expectOk('PATCH', `/servers/${large.serverId}`, { description: 'Large' })
    const person = await signIn(owner.email)
    const first = await person.get(`/servers/${large.serverId}/inspector`)
    expect(first.html).toContain('2,000 tools')
    expect(first.html).toContain('1 to 50 of 2,000')
    expect(first.html).toContain('10 earlier messages not shown')
    expect(first.html.length).toBeLessThan(400_000)
    const last = await person.get(`/servers/${large.serverId}/inspector?page=40`)
    expect(last.html).toContain('<code>tool_1998</code>')
    expect((await person.get(`/servers/${large.serverId}/inspector?q=1998`)).html).toContain('1 tool of 2000')
  })
})
