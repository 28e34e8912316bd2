import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { describeBrowser } from '../../src/identity/sign-in/describe-browser.ts'
import { createApiClient } from '../support/api-client.ts'
import { createBrowser } from '../support/browser.ts'
import { withoutRequestId } from '../support/without-request-id.ts'
import { anyDatabase, databasesOfRun, EMAIL, makeToken, PASSWORD, signUpInBrowser, startApp } from './app.ts'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const Sessions = z.object({
  items: z.array(z.looseObject({ id: z.string(), current: z.boolean(), browser: z.string(), address: z.string() })),
})

const signIn = async (origin: string, email: string, userAgent = FIREFOX) => {
  const browser = createBrowser(origin)
  await browser.send('POST', '/session', { email, password: PASSWORD }, { 'user-agent': userAgent })
  await browser.loadCsrfToken()
  return browser
}
type Browser = Awaited<ReturnType<typeof signIn>>
const sessionsOf = async (browser: Browser) => Sessions.parse((await browser.send('GET', '/me/sessions')).json()).items

describe.each(databasesOfRun)('the sessions of a user on $kind', database => {
  it('are listed with their browser and address, and mark the current one', async () => {
    const { origin, services } = await startApp(database)
    await createBrowser(origin).signUp(EMAIL, PASSWORD)
    await createBrowser(origin).signUp('eve@example.com', PASSWORD)
    await services.db.session.deleteMany()
    const one = await signIn(origin, EMAIL)
    await signIn(origin, EMAIL, 'curl/8.5.0')
    await signIn(origin, 'eve@example.com')
    expect(await sessionsOf(one)).toMatchObject([
      { current: true, browser: 'Firefox on Linux', address: '127.0.0.1', createdAt: expect.any(String) },
      { current: false, browser: 'curl', lastSeenAt: expect.any(String) },
    ])
    await services.db.session.updateMany({ data: { expiresAt: new Date(Date.now() - 1) } })
    const late = await signIn(origin, EMAIL)
    expect(await sessionsOf(late)).toHaveLength(1)
  })

  it('can be ended one by one or all others at once, but not those of other users', async () => {
    const { origin, services } = await startApp(database)
    await createBrowser(origin).signUp(EMAIL, PASSWORD)
    await createBrowser(origin).signUp('eve@example.com', PASSWORD)
    await services.db.session.deleteMany()
    const one = await signIn(origin, EMAIL)
    const second = await signIn(origin, EMAIL)
    const third = await signIn(origin, EMAIL)
    const eve = await signIn(origin, 'eve@example.com')
    const [eves] = await sessionsOf(eve)
    const [, other] = await sessionsOf(one)
    const foreign = await one.send('DELETE', `/me/sessions/${eves?.id}`)
    const absent = await one.send('DELETE', `/me/sessions/${randomUUID()}`)
    expect([foreign.status, withoutRequestId(foreign.json())]).toEqual([404, withoutRequestId(absent.json())])

    expect((await one.send('DELETE', `/me/sessions/${other?.id}`)).status).toBe(204)
    expect((await second.send('GET', '/me')).status).toBe(401)
    expect((await third.send('GET', '/me')).status).toBe(200)
    expect((await one.send('DELETE', '/me/sessions')).status).toBe(204)
    expect((await third.send('GET', '/me')).status).toBe(401)
    expect((await one.send('GET', '/me')).status).toBe(200)
    expect((await eve.send('GET', '/me')).status).toBe(200)
    const audited = await services.db.auditEntry.findMany({
      where: { action: 'session.ended' },
      orderBy: { id: 'asc' },
    })
    expect(audited).toMatchObject([{ targetId: other?.id }, { change: { ended: 1 } }])
  })
})

describe('the sessions of a user', () => {
  it('are all ended if a token ends the others', async () => {
    const { origin } = await startApp(anyDatabase)
    const browser = await signUpInBrowser({ origin })
    const script = createApiClient(origin, await makeToken(browser))
    expect((await script.send('GET', '/me/sessions')).body).toMatchObject({ items: [{ current: false }] })
    expect((await script.send('DELETE', '/me/sessions')).status).toBe(204)
    expect((await browser.send('GET', '/me')).status).toBe(401)
  })

  it('show a hostile User-Agent, truncated, as an unknown browser', async () => {
    const { origin, services } = await startApp(anyDatabase)
    await createBrowser(origin).signUp(EMAIL, PASSWORD)
    await services.db.session.deleteMany()
    const browser = await signIn(origin, EMAIL, `<script>alert(1)</script>${'x'.repeat(2_000)}`)
    expect(await sessionsOf(browser)).toMatchObject([{ browser: 'Unknown browser' }])
    expect(JSON.stringify(await services.db.session.findMany()).length).toBeLessThan(1_500)
  })

  it('are removed by the hourly cleanup after they end, however many there are', async () => {
    const { origin, services } = await startApp(anyDatabase)
    const browser = createBrowser(origin)
    await browser.signUp(EMAIL, PASSWORD)
    const expiresAt = new Date(Date.now() - 1)
    const data = Array.from({ length: 1_200 }, (_, count) => ({ sidHash: `old ${count}`, data: {}, expiresAt }))
    await services.db.session.createMany({ data })
    await services.upkeep.run()
    expect(await services.db.session.count()).toBe(1)
    expect((await browser.send('GET', '/me')).status).toBe(200)
  })

  it.each([
    [FIREFOX, 'Firefox on Linux'],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0',
      'Edge on Windows',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15',
      'Safari on macOS',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0 Mobile/15E148 Safari/604.1',
      'Chrome on iPhone',
    ],
    [
      'Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36',
      'Chrome on Android',
    ],
    ['curl/8.5.0', 'curl'],
    ['', 'Unknown browser'],
    [undefined, 'Unknown browser'],
  ])('are described for %j as %s', (userAgent, name) => {
    expect(describeBrowser(userAgent)).toBe(name)
  })
})
