import { describe, expect, it, onTestFinished } from 'vitest'
import { readMcpUrl } from '../../src/web/start/attached-server.ts'
import { startTestApp } from '../support/app.ts'
import { startFakeApi } from '../support/fake-api.ts'
import { createPageBrowser, inputsOf } from '../support/page-browser.ts'

const PASSWORD = 'correct horse battery staple'

/** Signs up as the first user of a new installation. */
const begin = async () => {
  const app = await startTestApp()
  onTestFinished(() => app.close())
  const browser = createPageBrowser(app.origin)
  await browser.get('/sign-up')
  await browser.submit('/sign-up', { email: 'ada@example.com', password: PASSWORD })
  return { app, browser }
}

describe('the first run', () => {
  it('adds the sample only once, however often it is requested', async () => {
    const { app, browser } = await begin()
    expect(await browser.get('/')).toMatchObject({ status: 303, location: '/first-run' })
    await browser.get('/first-run')
    const answers = await Promise.all([1, 2, 3].map(() => browser.submit('/first-run/sample', {})))
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303])
    expect(await browser.submit('/first-run/sample', {})).toMatchObject({ location: '/first-run' })
    expect(await app.services.db.server.count()).toBe(1)
  })

  it('ends if someone has created a toolkit or server another way', async () => {
    const { app, browser } = await begin()
    const { id: organizationId } = await app.services.db.organization.findFirstOrThrow()
    await app.services.db.toolkit.create({ data: { organizationId, title: 'Mine' } })
    expect(await browser.get('/')).toMatchObject({ status: 303, location: '/servers' })
    expect(await browser.get('/first-run')).toMatchObject({ status: 303, location: '/servers' })
  })

  it('is only for the operator; later users start with the list', async () => {
    const { app } = await begin()
    const later = createPageBrowser(app.origin)
    await later.get('/sign-up')
    const signedUp = await later.submit('/sign-up', { email: 'eve@example.com', password: PASSWORD })
    expect(signedUp).toMatchObject({ status: 303, location: '/' })
    expect(await later.get('/')).toMatchObject({ status: 303, location: '/servers' })
    expect((await later.get('/servers')).html).toContain('Create your first server')
  })
})

describe('a request that is pasted in the first run', () => {
  const TOKEN = 'sk-live-4f9XbQ27TzLmWc81RyVn05Ke'
  const PATH = '/first-run/request'

  /** Pastes a text and returns the form that it fills in. */
  const paste = async (browser: Awaited<ReturnType<typeof begin>>['browser'], text: string) => {
    await browser.get('/first-run')
    const reviewed = await browser.submit(PATH, { paste: text })
    const fields = inputsOf(reviewed.html)
    const form = { draft: fields.get('draft') ?? '', held: fields.get('held') ?? '', name: fields.get('name') ?? '' }
    return { reviewed, form }
  }

  it('becomes a tool whose secret is stored on its server and bound to it', async () => {
    const { app, browser } = await begin()
    const { db } = app.services
    const url = `https://api.kestrel.example/v1/orders/17?limit=5&page_token=abc&api_key=${TOKEN}`
    const { reviewed, form } = await paste(browser, url)
    expect(reviewed.status).toBe(200)
    expect(reviewed.html).not.toContain(TOKEN)
    const becomes = { 'becomes:0': 'model', 'becomes:1': 'model', 'becomes:2': 'fixed' }
    const created = await browser.submit(PATH, { ...form, ...becomes, method: 'GET', name: 'Get order' })
    expect(created).toMatchObject({ status: 303, location: '/first-run' })
    const tool = await db.tool.findFirstOrThrow()
    expect(tool).toMatchObject({
      name: 'get_order',
      definition: {
        url: 'https://api.kestrel.example/v1/orders/{{integer:order_id}}?limit={{integer:limit}}&page_token=abc&api_key={{api_key}}',
        parameters: {
          order_id: { example: 17 },
          limit: { default: 5 },
          api_key: { binding: { source: 'server', key: 'api_key', secret: true } },
        },
      },
    })
    expect(await db.server.findFirstOrThrow()).toMatchObject({ name: 'Kestrel', access: 'organization' })
    const secret = await db.global.findFirstOrThrow()
    expect(secret).toMatchObject({ key: 'api_key', isSecret: true })
    expect(JSON.stringify(secret)).toContain('https://api.kestrel.example')
    expect(JSON.stringify([tool, secret])).not.toContain(TOKEN)
    expect((await browser.get('/first-run')).html).toContain('Call get_order')
  })

  it.each([
    ['the query', 'https://a.example/?token=hunter2&limit=5', 'query parameter token'],
    ['JSON', `curl https://a.example/ --json '{"token": "hunter2", "tokens": 5}'`, 'body field token'],
    ['a form', 'curl https://a.example/ -d token=hunter2 -d limit=5', 'body field token'],
    ['a header', 'curl https://a.example/ -H "X-Key-Name: hunter2"', 'X-Key-Name'],
  ])('does not show a value in %s that may be a secret, nor to the model', async (_, text, where) => {
    const { app, browser } = await begin()
    const { reviewed, form } = await paste(browser, text)
    expect(reviewed.html).toContain(`${where}, may be a secret, so its value is not shown`)
    expect(reviewed.html).not.toContain('hunter2')
    expect(reviewed.html).not.toContain('secret found')
    const created = await browser.submit(PATH, { ...form, method: 'GET' })
    expect(created.status).toBe(303)
    const { definition } = await app.services.db.tool.findFirstOrThrow()
    expect(JSON.stringify(definition)).not.toMatch(/hunter2|"binding"/)
    expect(JSON.stringify(definition)).toMatch(/\{\{(?:token|x_key_name)\}\}/)
    expect(await app.services.db.global.count()).toBe(0)
  })

  it('stores a value that may be a secret as one if the user says so', async () => {
    const { app, browser } = await begin()
    const { form } = await paste(browser, 'https://a.example/?token=hunter2')
    const created = await browser.submit(PATH, { ...form, method: 'GET', 'offered:token': 'secret' })
    expect(created.status).toBe(303)
    expect(await app.services.db.global.findMany()).toMatchObject([{ key: 'token', isSecret: true }])
    expect(await app.services.db.tool.findFirstOrThrow()).toMatchObject({
      definition: { parameters: { token: { binding: { key: 'token', secret: true } } } },
    })
  })

  it('asks for a secret that it does not have, and for one that is not held any more', async () => {
    const { app, browser } = await begin()
    const { reviewed, form } = await paste(browser, `curl https://a.example/ -H "Authorization: Bearer $TOKEN"`)
    expect(reviewed.html).toMatch(/name="secret:token" type="password" value=""[^>]* required/)
    const refused = await browser.submit(PATH, { ...form, method: 'GET' })
    expect(refused.status).toBe(400)
    expect(refused.html).toContain('The value of token is required.')
    const typed = await browser.submit(PATH, { ...form, method: 'GET', name: '订单', 'secret:token': TOKEN })
    expect(typed.status).toBe(400)
    expect(typed.html).not.toContain(TOKEN)
    // The value was typed once and is held until the form is accepted.
    const held = inputsOf(typed.html).get('held') ?? ''
    const created = await browser.submit(PATH, { ...form, held, method: 'GET' })
    expect(created.status).toBe(303)
    expect(await app.services.db.global.count({ where: { key: 'token', isSecret: true } })).toBe(1)
  })

  it('does not use the held secret of somebody else', async () => {
    const { app, browser } = await begin()
    const { form } = await paste(browser, `https://a.example/?api_key=${TOKEN}`)
    await app.services.db.user.updateMany({ data: { isOperator: true } })
    const other = createPageBrowser(app.origin)
    await other.get('/sign-up')
    await other.submit('/sign-up', { email: 'eve@example.com', password: PASSWORD })
    await app.services.db.user.updateMany({ data: { isOperator: true } })
    await other.get('/first-run')
    const refused = await other.submit(PATH, { ...form, method: 'GET' })
    expect(refused.html).toContain('The value of api_key is required.')
  })

  it('is not offered again by the sign-in page if the session has ended', async () => {
    const { browser } = await begin()
    await browser.get('/first-run')
    browser.cookies.clear()
    const asked = await browser.submit(PATH, { paste: `https://a.example/?api_key=${TOKEN}`, _secret: 'paste' })
    expect(asked.status).toBe(401)
    expect(asked.html).not.toContain(TOKEN)
  })
})

describe('an MCP server that is attached in the first run', () => {
  const PATH = '/first-run/upstream'

  it.each([
    ['is no URL', 'my server', 'Enter the whole URL of the MCP server'],
    ['has a placeholder', 'https://{tenant}.example.com/mcp', 'Enter the whole URL of the MCP server'],
    ['cannot be reached', 'http://127.0.0.1:1/mcp', 'Could not connect.'],
  ])('is refused if its URL %s, and leaves nothing behind', async (_, url, message) => {
    const { app, browser } = await begin()
    await browser.get('/first-run')
    const refused = await browser.submit(PATH, { url })
    expect(refused.status).toBeGreaterThanOrEqual(400)
    expect(refused.html).toContain(message)
    expect(inputsOf(refused.html).get('url')).toBe(url)
    expect(await app.services.db.server.count({ where: { removedAt: null } })).toBe(0)
    expect((await browser.get('/first-run')).html).toContain('Create your first tool')
  })

  it('needs an account next if it refuses to list its tools without one', async () => {
    const fake = await startFakeApi((_, response) => void response.writeHead(401).end())
    onTestFinished(() => fake.close())
    const { browser } = await begin()
    await browser.get('/first-run')
    expect(await browser.submit(PATH, { url: `${fake.origin}/mcp` })).toMatchObject({ status: 303, location: PATH })
    const { html } = await browser.get(PATH)
    expect(html).toContain('mcp needs an account')
    expect(html).toMatch(/href="\/connect\/[0-9a-f-]{36}"/)
    expect(await browser.get('/first-run')).toMatchObject({ status: 303, location: PATH })
  })

  it('has every value in its URL that may be a key as a secret of the server', () => {
    const key = '7f3c1a52-9d0e-4c8b-b6a4-2e51d7f08c93'
    const { url, secrets } = readMcpUrl(`https://mcp.exa.example/mcp?exaApiKey=${key}&profile=depot`)
    expect(url).toBe('https://mcp.exa.example/mcp?exaApiKey={{exa_api_key}}&profile=depot')
    expect([...secrets]).toEqual([['exa_api_key', key]])
  })

  it('does not repeat a key in its URL', async () => {
    const { browser } = await begin()
    await browser.get('/first-run')
    const key = 'sk-live-4f9XbQ27TzLmWc81RyVn05Ke'
    const refused = await browser.submit(PATH, { url: `http://127.0.0.1:1/mcp?key=${key}` })
    expect(refused.html).toContain('Could not connect.')
    expect(refused.html).not.toContain(key)
  })
})
