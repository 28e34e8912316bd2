import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { makeServer, signUp } from '../support/api-client.ts'
import { databasesOfRun } from '../support/databases.ts'
import { createPageBrowser } from '../support/page-browser.ts'
import { type SignedInBrowser, signInToPages, textOf } from '../support/signed-in.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'

vi.setConfig({ testTimeout: 60_000 })

const BASE_URL = 'http://patchbay.example.com'
/** Ten failures in a row, of which three are retries: the budget of an origin that has had few requests. */
const CALLS_TO_OPEN = 7
const METRICS_TOKEN = 'M'.repeat(43)
const SMTP_SECRET = 'smtp-password-canary'

describe.each(databasesOfRun)('the operator’s pages on $kind', kind => {
  const patchbay = runPatchbay({
    kind,
    env: {
      SMTP_URL: `smtp://mailer:${SMTP_SECRET}@127.0.0.1:1`,
      PATCHBAY_BASE_URL: BASE_URL,
      PATCHBAY_ALLOWED_ORIGINS: 'https://app.example.com',
      PATCHBAY_TYPO: 'x',
      PATCHBAY_METRICS_TOKEN: METRICS_TOKEN,
    },
  })
  const failing = runFakeApi((_, response) => void response.writeHead(503).end())
  let browser: SignedInBrowser
  const operator = runUser(patchbay)
  beforeAll(async () => {
    await signUp(patchbay.origin, 'somebody.else@example.com')
    browser = await signInToPages(patchbay.origin, operator.email, BASE_URL)
  })

  it('show the health of the process, the database and the history', async () => {
    const { url } = await makeServer(operator, [])
    await fetch(url, { method: 'POST', body: '{}' })
    const { status, html } = await browser.get('/operator')
    const text = textOf(html)
    expect(status).toBe(200)
    expect(text).toMatch(kind.kind === 'sqlite' ? /SQLite, [\d.]+ (kB|MB)/ : /PostgreSQL, [\d.]+ (kB|MB)/)
    expect(text).toContain(process.version)
    expect(text).toMatch(/Uptime \d+ (s|min)/)
    expect(text).toMatch(/Memory [\d.,]+ MB/)
    expect(text).toMatch(/Event loop delay, p99 [\d.]+ (ms|s)/)
    expect(text).toMatch(/Jobs in worker threads 0 of [1-9]\d* 0 waiting/)
    expect(text).toMatch(/Missing 0 /)
    expect(text).toContain('complete since startup')
  })

  it('show what the process uses, the slowest tools and, on PostgreSQL, every process', async () => {
    const fast = { name: 'fast', method: 'GET', url: 'http://sample.patchbay.internal/' }
    const { serverId } = await makeServer(operator, [fast], { server: { name: 'Clock' } })
    const call = { serverId, outcome: 'ok', requestBytes: 0, responseBytes: 0, startedAt: new Date() } as const
    await patchbay.db.execution.createMany({
      data: [
        { ...call, id: randomUUID(), tool: 'slow', durationMs: 9_000 },
        { ...call, id: randomUUID(), tool: 'slow', durationMs: 11_000 },
        { ...call, id: randomUUID(), tool: 'fast', durationMs: 20_000 },
        { ...call, id: randomUUID(), tool: 'fast', durationMs: 10 },
        { ...call, id: randomUUID(), tool: 'fast', durationMs: 10 },
      ],
    })
    const text = textOf((await browser.get('/operator')).html)
    expect(text).toMatch(/Memory [\d.,]+ MB of [\d.,]+ (MB|GB)/)
    expect(text).toMatch(/Disk of the data folder [\d.,]+ .B of [\d.,]+ .B/)
    expect(text).toMatch(/slow Clock 2 10 s 11 s fast Clock 3 6\.7 s 20 s/)
    if (kind.kind === 'postgresql') expect(text).toMatch(new RegExp(`process ${process.pid} \\(this one\\) \\d`))
    else expect(text).not.toContain('Processes on this database')
  })

  it('list APIs that keep failing, which /metrics counts with the retries', async () => {
    const { port } = new URL(failing.origin)
    const tool = { name: 'get', method: 'GET', url: `${failing.origin}/`, retries: 2 }
    const { instanceIds } = await makeServer(operator, [tool])
    const call = () => operator.send('POST', `/instances/${instanceIds.get}/call`, { arguments: {} })
    for (let count = 0; count < CALLS_TO_OPEN; count++) await call()
    const text = textOf((await browser.get('/operator')).html)
    expect(text).toMatch(/APIs that keep failing 1 3 retries since startup/)
    expect(text).toMatch(new RegExp(`127\\.0\\.0\\.1:${port} \\S.* it responded with 503 10 in [\\d.]+ (ms|s)`))
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
    const metrics = await (await fetch(`${patchbay.origin}/metrics`, { headers })).text()
    expect(metrics).toMatch(/^patchbay_failing_origins 1$/m)
    expect(metrics).toMatch(/^patchbay_retries_total 3$/m)
    expect(metrics).toMatch(/^patchbay_jobs\{state="waiting"\} 0$/m)
  })

  it('warn about a wrong base URL, and name the URL that was actually used', async () => {
    const text = textOf((await browser.get('/operator')).html)
    expect(text).toContain('http://patchbay.example.com is not encrypted')
    expect(text).toContain(`You reached this page at ${patchbay.origin}`)
  })

  it('list accounts with their organizations and find them by email, without revealing secrets', async () => {
    const all = textOf((await browser.get('/operator/users')).html)
    expect(all).toMatch(/builder\d+@example.com \(operator\)/)
    expect(all).toContain('somebody.else@example.com')
    const { html } = await browser.get('/operator/users?q=SOMEBODY')
    expect(html).toContain('somebody.else@example.com')
    expect(html).not.toContain(`${operator.email} <small>(operator)`)
    const { passwordHash } = await patchbay.services.db.user.findFirstOrThrow()
    expect(all).not.toContain(passwordHash)
    expect((await browser.get('/operator/users?q=zzz')).html).toContain('No accounts found')
  })

  it('page through long lists of accounts to the end', async () => {
    const emails = Array.from({ length: 150 }, (_, index) => `crowd${String(index).padStart(3, '0')}@example.com`)
    await patchbay.services.db.user.createMany({ data: emails.map(email => ({ email, passwordHash: '' })) })
    const seen: string[] = []
    for (let path: string | undefined = '/operator/users?q=crowd'; path !== undefined; ) {
      const { html } = await browser.get(path)
      seen.push(...(html.match(/(?<=>)crowd\d{3}@example\.com/g) ?? []))
      path = /rel="next" href="([^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&')
    }
    expect(seen).toEqual(emails)
  })

  it('show each setting with its value and source, but secrets only as set', async () => {
    const { html } = await browser.get('/operator/settings')
    const rows = new Map(
      [
        ...html.matchAll(
          /<code>([A-Z_]+)<\/code><\/th><td class="wrap"><code>(.*?)<\/code><\/td><td data-label="Source">(.*?)<\/td>/g,
        ),
      ].map(([, name, value, from = '']) => [name, `${value} (${textOf(from).trim()})`]),
    )
    expect(rows.get('PATCHBAY_MASTER_KEY')).toBe('set (environment)')
    expect(rows.get('PATCHBAY_ALLOWED_ORIGINS')).toBe('https://app.example.com (environment)')
    expect(rows.get('PATCHBAY_SIGNUP')).toBe('open (default)')
    expect(rows.size).toBe(patchbay.settings.origins.length)
    expect(html).toContain('PATCHBAY_TYPO: unknown setting')
    expect(html).not.toContain(SMTP_SECRET)
    expect(html).not.toContain(Buffer.alloc(32, 7).toString('base64'))
  })

  it('show the audit log of the whole installation, and offer it as a file', async () => {
    const { html } = await browser.get('/operator/audit?action=user.')
    expect(textOf(html)).toContain('User signed in')
    expect(html).toContain('/api/v1/audit?action=user.&amp;format=ndjson')
  })

  it('are closed to other users and missing from their menu', async () => {
    const other = await signInToPages(patchbay.origin, 'somebody.else@example.com', BASE_URL)
    for (const page of ['', '/users', '/settings', '/audit']) {
      expect([page, (await other.get(`/operator${page}`)).status]).toEqual([page, 403])
    }
    expect((await other.get('/toolkits')).html).not.toContain('href="/operator"')
    expect((await createPageBrowser(patchbay.origin).get('/operator')).location).toBe('/sign-in?return_to=%2Foperator')
  })
})

describe('the system status page', () => {
  const patchbay = runPatchbay()

  it('tells anyone that Patchbay is up, and nothing else', async () => {
    const { status, html, headers } = await createPageBrowser(patchbay.origin).get('/status')
    expect(status).toBe(200)
    expect(textOf(html)).toContain('Patchbay is up')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(html).not.toContain(patchbay.databaseUrl)
    expect(html).toContain('href="/status"')
  })

  it('reports a database that is not responding', async () => {
    const { db } = patchbay.services
    const query = vi.spyOn(db, 'probe').mockRejectedValue(new Error('gone'))
    const { status, html } = await createPageBrowser(patchbay.origin).get('/status')
    query.mockRestore()
    expect([status, textOf(html).includes('The database is not responding')]).toEqual([503, true])
    const ready = async () => (await fetch(`${patchbay.origin}/readyz`)).json()
    await vi.waitFor(async () => expect(await ready()).toMatchObject({ status: 'ok' }), { timeout: 10_000 })
  })
})
