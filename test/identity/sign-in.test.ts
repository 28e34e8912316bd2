import { hashSync } from '@node-rs/argon2'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { type BrowserAnswer, createBrowser } from '../support/browser.ts'
import {
  type AccountsApp,
  anyDatabase,
  BEHIND_PROXY,
  databasesOfRun,
  EMAIL,
  NEW_PASSWORD,
  PASSWORD,
  startApp,
  startOwnApp,
} from './app.ts'

/** An address that changes with each test, because an application caches which addresses are blocked. */
let home = ''
let tests = 0
beforeEach(() => {
  home = `198.51.100.${++tests + 100}`
})

const from = (origin: string, address: string) => createBrowser(origin, { address })

/** Starts an application with one account. */
const startWithAccount = async (starting: Promise<AccountsApp>) => {
  const app = await starting
  await from(app.origin, '192.0.2.200').signUp(EMAIL, PASSWORD)
  return app
}

const failTimes = async (origin: string, times: number, address = home, email = EMAIL): Promise<number[]> => {
  const statuses: number[] = []
  for (let count = 0; count < times; count++) {
    statuses.push((await from(origin, address).signIn(email, 'wrong password')).status)
  }
  return statuses
}

describe.each(databasesOfRun)('signing in on $kind', database => {
  it('returns the user and a CSRF token, and the session lasts until sign-out', async () => {
    const { origin } = await startWithAccount(startApp(database, BEHIND_PROXY))
    const browser = from(origin, home)
    const answer = await browser.signIn(' ADA@example.com', PASSWORD)
    expect(answer.status).toBe(200)
    expect(answer.json()).toMatchObject({ user: { email: EMAIL }, csrfToken: expect.any(String) })
    await browser.loadCsrfToken()
    const [stolen] = browser.cookies.values()
    expect((await browser.send('DELETE', '/session')).status).toBe(204)
    expect(browser.cookies.size).toBe(0)
    browser.cookies.set('sid', stolen ?? '')
    expect((await browser.send('GET', '/session')).status).toBe(401)
  })

  it('creates a new session ID each time, and ends the previous session', async () => {
    const { origin } = await startWithAccount(startApp(database, BEHIND_PROXY))
    const browser = from(origin, home)
    await browser.signIn(EMAIL, PASSWORD)
    const [before] = browser.cookies.values()
    await browser.signIn(EMAIL, PASSWORD)
    const [after] = browser.cookies.values()
    expect(after).not.toBe(before)
    browser.cookies.set('sid', before ?? '')
    expect((await browser.send('GET', '/me')).status).toBe(401)
  })

  it('stores neither session ID nor password in plain text, and ends expired sessions', async () => {
    const { origin, services } = await startWithAccount(startApp(database, BEHIND_PROXY))
    const browser = from(origin, home)
    await browser.signIn(EMAIL, PASSWORD)
    const [sid = ''] = browser.cookies.values()
    const stored = JSON.stringify([await services.db.session.findMany(), await services.db.user.findMany()])
    expect(stored).not.toContain(sid.split('.')[0])
    expect(stored).not.toContain(PASSWORD)
    await services.db.session.updateMany({ data: { expiresAt: new Date(Date.now() - 1) } })
    expect((await browser.send('GET', '/me')).status).toBe(401)
  })

  it('ends with the account', async () => {
    const { origin, services } = await startWithAccount(startApp(database, BEHIND_PROXY))
    const browser = from(origin, home)
    await browser.signIn(EMAIL, PASSWORD)
    await services.db.user.deleteMany()
    expect((await browser.send('GET', '/me')).status).toBe(401)
  })

  it('fails the same way whether or not the account exists', async () => {
    const { origin } = await startWithAccount(startApp(database, BEHIND_PROXY))
    const shown = ({ status, headers, text }: BrowserAnswer) => ({
      status,
      text: text.replace(/"requestId":"[^"]*"/, ''),
      headers: [...headers].filter(([name]) => !['date', 'x-request-id'].includes(name)),
    })
    const wrong = shown(await from(origin, home).signIn(EMAIL, 'wrong password'))
    expect(shown(await from(origin, home).signIn('nobody@example.com', 'wrong password'))).toEqual(wrong)
    expect(wrong).toMatchObject({ status: 401 })
  })

  it.each([EMAIL, 'nobody@example.com'])(
    'is blocked at the eleventh failure from one network address, for %s',
    async email => {
      const { origin, services, startAnother } = await startWithAccount(startApp(database, BEHIND_PROXY))
      expect(await failTimes(origin, 10, home, email)).toEqual(Array(10).fill(401))
      const blocked = await from(origin, home).signIn(email, PASSWORD)
      expect(blocked.status).toBe(429)
      expect(Number(blocked.headers.get('retry-after'))).toBeGreaterThan(60)
      expect(Number(blocked.headers.get('retry-after'))).toBeLessThanOrEqual(15 * 60)
      expect(blocked.json()).toMatchObject({ type: 'urn:patchbay:error:rate_limited' })
      // Other accounts and other addresses are not blocked, and the block expires.
      expect((await from(origin, home).signIn('other@example.com', PASSWORD)).status).toBe(401)
      expect((await from(origin, '198.51.100.2').signIn(email, PASSWORD)).status).toBe(email === EMAIL ? 200 : 401)
      await services.db.counter.updateMany({ data: { expiresAt: new Date(Date.now() - 1) } })
      const another = await startAnother(BEHIND_PROXY)
      expect((await from(another.origin, home).signIn(email, PASSWORD)).status).toBe(email === EMAIL ? 200 : 401)
    },
  )

  it('does not count further attempts in the database while blocked', async () => {
    const { origin, services } = await startWithAccount(startApp(database, BEHIND_PROXY))
    await failTimes(origin, 11)
    const counted = await services.db.counter.findMany({ orderBy: { key: 'asc' } })
    expect(await failTimes(origin, 5)).toEqual(Array(5).fill(429))
    expect(await services.db.counter.findMany({ orderBy: { key: 'asc' } })).toEqual(counted)
  })

  it('stays blocked after a restart', async () => {
    const first = await startWithAccount(startApp(database, BEHIND_PROXY))
    await failTimes(first.origin, 10)
    const second = await first.startAnother(BEHIND_PROXY)
    expect(await failTimes(second.origin, 1)).toEqual([429])
  })

  it('allows no more attempts if they are concurrent', async () => {
    const { origin } = await startWithAccount(startApp(database, BEHIND_PROXY))
    const attempts = Array.from({ length: 30 }, () => from(origin, home).signIn(EMAIL, 'wrong password'))
    const statuses = (await Promise.all(attempts)).map(({ status }) => status)
    expect(statuses.filter(status => status === 401)).toHaveLength(10)
    expect(statuses.filter(status => status === 429)).toHaveLength(20)
  })

  it('resets the failures after a success', async () => {
    const { origin } = await startWithAccount(startApp(database, BEHIND_PROXY))
    for (let round = 0; round < 3; round++) {
      expect(await failTimes(origin, 9)).toEqual(Array(9).fill(401))
      expect((await from(origin, home).signIn(EMAIL, PASSWORD)).status).toBe(200)
    }
  })

  it('counts all addresses of one IPv6 customer as one', async () => {
    const { origin } = await startWithAccount(startApp(database, BEHIND_PROXY))
    for (let count = 1; count <= 10; count++) await failTimes(origin, 1, `2001:db8:1:2::${count}`)
    expect(await failTimes(origin, 1, '2001:db8:1:2:ffff::1')).toEqual([429])
    expect(await failTimes(origin, 1, '2001:db8:1:3::1')).toEqual([401])
  })

  it('fails if the password is changed while it is being checked, and keeps the new one', async () => {
    const { origin, services } = await startWithAccount(startApp(database, BEHIND_PROXY))
    const { db } = services
    const passwordHash = hashSync(NEW_PASSWORD, { memoryCost: 8, timeCost: 1, parallelism: 1 })
    // A hash that is slow to verify and uses too little memory, so that it is replaced.
    const slow = hashSync(PASSWORD, { memoryCost: 1_024, timeCost: 400, parallelism: 1 })
    await db.user.updateMany({ data: { passwordHash: slow } })
    const browser = from(origin, home)
    const signingIn = browser.signIn(EMAIL, PASSWORD)
    await vi.waitFor(async () => expect(await db.counter.count({ where: { points: 1 } })).toBe(4), { interval: 1 })
    for (let reads = 0; reads < 5; reads++) await db.user.findMany()
    await db.user.updateMany({ data: { passwordHash } })
    expect((await signingIn).status).toBe(401)
    expect((await browser.send('GET', '/me')).status).toBe(401)
    expect(await db.user.findMany()).toMatchObject([{ passwordHash }])
  })

  it('upgrades an older hash to the current parameters', async () => {
    const { origin, services } = await startWithAccount(startOwnApp(database, BEHIND_PROXY, { hashingCost: undefined }))
    const weak = hashSync(PASSWORD, { memoryCost: 8, timeCost: 1, parallelism: 1 })
    await services.db.user.updateMany({ data: { passwordHash: weak } })
    const atOnce = Array.from({ length: 3 }, () => from(origin, home).signIn(EMAIL, PASSWORD))
    expect((await Promise.all(atOnce)).map(({ status }) => status)).toEqual([200, 200, 200])
    const [user] = await services.db.user.findMany()
    expect(user?.passwordHash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect((await from(origin, home).signIn(EMAIL, PASSWORD)).status).toBe(200)
  })
})

describe('signing in', () => {
  it.each([
    ['a hundred accounts from one address', 'sign-in-address', undefined, 'other@example.com'],
    ['one account from a hundred addresses', 'sign-in-account', '198.51.100.2', EMAIL],
  ])('to %s is blocked at the hundred-and-first failure', async (_what, counter, address, email) => {
    const { origin, services } = await startWithAccount(startOwnApp(anyDatabase, BEHIND_PROXY))
    expect(await failTimes(origin, 1)).toEqual([401])
    // Records the other 98 attempts directly, without hashing passwords.
    const ninetyEight = { data: { points: { increment: 98 } }, where: { key: { startsWith: `${counter}:` } } }
    expect((await services.db.counter.updateMany(ninetyEight)).count).toBe(1)
    expect(await failTimes(origin, 1, address, email)).toEqual([401])
    expect(await failTimes(origin, 1, address, email)).toEqual([429])
  })

  it('ignores forwarded addresses that do not come from a trusted proxy', async () => {
    const { origin } = await startApp(anyDatabase)
    for (let count = 0; count < 10; count++) await from(origin, `203.0.113.${count}`).signIn(EMAIL, 'x')
    expect((await from(origin, '203.0.113.99').signIn(EMAIL, 'x')).status).toBe(429)
  })

  it('is rejected from another site before the password is checked', async () => {
    const { origin } = await startWithAccount(startApp(anyDatabase, BEHIND_PROXY))
    const credentials = { email: EMAIL, password: PASSWORD }
    const answer = await from(origin, home).send('POST', '/session', credentials, { origin: 'https://evil.example' })
    expect(answer.status).toBe(403)
    expect(answer.headers.getSetCookie()).toEqual([])
  })
})
