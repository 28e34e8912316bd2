import { beforeEach, describe, expect, it } from 'vitest'
import { createApiClient } from '../support/api-client.ts'
import { createBrowser } from '../support/browser.ts'
import type { DatabaseKindForTests } from '../support/databases.ts'
import { createPageBrowser } from '../support/page-browser.ts'
import {
  type AccountsApp,
  anyDatabase,
  auditOf,
  BEHIND_PROXY,
  databasesOfRun,
  EMAIL,
  makeToken,
  NEW_PASSWORD,
  PASSWORD,
  signUpInBrowser,
  startApp,
} from './app.ts'
import { linkIn, newConfirmedPerson, startMailApp } from './mail.ts'
import { codeOf, NewSecondFactor, RecoveryCodes, turnOn } from './second-factor.ts'

/** Addresses that change with each test, because an application caches which addresses are blocked. */
let home = ''
let settingUp = ''
let tests = 0
beforeEach(() => {
  home = `198.51.100.${++tests + 100}`
  settingUp = `192.0.2.${tests + 100}`
})
const ELSEWHERE = '198.51.100.2'

const signIn = (origin: string, code?: string, address = home) =>
  createBrowser(origin, { address }).send('POST', '/session', { email: EMAIL, password: PASSWORD, code })

/** Starts an application whose only account has a second factor, which was turned on in `browser`. */
const startWithSecondFactor = async (database: DatabaseKindForTests) => {
  const app = await startApp(database, BEHIND_PROXY)
  const browser = await signUpInBrowser(app, EMAIL, { address: settingUp })
  return { ...app, browser, ...(await turnOn(browser, PASSWORD)) }
}

/** Clears the last used time step, so that the current code is valid again. */
const forgetUse = ({ services }: Pick<AccountsApp, 'services'>) =>
  services.db.secondFactor.updateMany({ data: { lastStep: 1 } })

describe.each(databasesOfRun)('a second factor on $kind', database => {
  it('takes effect once a first code confirms it, and is asked for only after the password', async () => {
    const app = await startApp(database, BEHIND_PROXY)
    const browser = await signUpInBrowser(app, EMAIL, { address: home })
    expect((await browser.send('GET', '/me/second-factor')).json()).toEqual({ isOn: false, recoveryCodesLeft: 0 })
    await browser.send('POST', '/me/second-factor', { password: PASSWORD })
    expect((await signIn(app.origin)).status).toBe(200)

    const { secret, uri, recoveryCodes } = await turnOn(browser, PASSWORD)
    expect(uri).toMatch(/^otpauth:\/\/totp\/Patchbay:ada%40example\.com\?issuer=Patchbay&secret=[A-Z2-7]{32}&/)
    expect(new Set(recoveryCodes).size).toBe(10)
    expect((await browser.send('GET', '/me/second-factor')).json()).toEqual({ isOn: true, recoveryCodesLeft: 10 })
    const asked = await signIn(app.origin)
    expect([asked.status, asked.json()]).toEqual([
      401,
      expect.objectContaining({ errors: [{ path: 'code', message: 'is missing' }] }),
    ])
    expect(asked.headers.getSetCookie()).toEqual([])
    const wrongPassword = { email: EMAIL, password: 'wrong password', code: codeOf(secret, 1) }
    const refused = await createBrowser(app.origin).send('POST', '/session', wrongPassword)
    expect([refused.status, refused.text]).toEqual([401, expect.not.stringContaining('code')])
    expect((await signIn(app.origin, codeOf(secret, 1))).status).toBe(200)
    expect(await auditOf(app)).toContain('user.second_factor_added')
  })

  it('accepts a code only once, even if it is sent many times concurrently', async () => {
    const app = await startWithSecondFactor(database)
    expect((await signIn(app.origin, app.confirmingCode)).status).toBe(401)
    const code = codeOf(app.secret, 1)
    const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => signIn(app.origin, code, `192.0.2.${n}`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401, 401])
    expect((await signIn(app.origin, code)).status).toBe(401)
  })

  it('accepts a recovery code only once, even if it is sent many times concurrently', async () => {
    const app = await startWithSecondFactor(database)
    const [first = '', second = ''] = app.recoveryCodes
    const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => signIn(app.origin, first, `192.0.2.${n}`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401, 401])
    expect((await signIn(app.origin, ` ${second.replaceAll('-', ' ').toUpperCase()} `)).status).toBe(200)
    expect((await app.browser.send('GET', '/me/second-factor')).json()).toEqual({ isOn: true, recoveryCodesLeft: 8 })
    expect((await auditOf(app)).filter(action => action === 'user.recovery_code_used')).toHaveLength(2)
  })

  it('stores its secret encrypted and its recovery codes hashed, and neither in the audit log', async () => {
    const app = await startWithSecondFactor(database)
    await signIn(app.origin, app.recoveryCodes[0])
    await signIn(app.origin, '000000')
    const { db } = app.services
    const stored = JSON.stringify(
      await Promise.all([
        db.secondFactor.findMany(),
        db.recoveryCode.findMany(),
        db.auditEntry.findMany(),
        db.session.findMany(),
      ]),
    )
    for (const code of [app.secret, ...app.recoveryCodes, ...app.recoveryCodes.map(code => code.replaceAll('-', ''))]) {
      expect(stored).not.toContain(code)
    }
  })

  it('ends the other sessions when it is added or removed, but keeps tokens', async () => {
    const app = await startApp(database, BEHIND_PROXY)
    const own = await signUpInBrowser(app, EMAIL, { address: home })
    const other = createBrowser(app.origin, { address: home })
    const token = await makeToken(own)
    await other.signIn(EMAIL, PASSWORD)
    const { secret } = await turnOn(own, PASSWORD)
    expect((await other.send('GET', '/me')).status).toBe(401)
    expect((await own.send('GET', '/me')).status).toBe(200)

    await other.send('POST', '/session', { email: EMAIL, password: PASSWORD, code: codeOf(secret, 1) })
    expect((await other.send('GET', '/me')).status).toBe(200)
    await forgetUse(app)
    const proof = { password: PASSWORD, code: codeOf(secret) }
    expect((await own.send('DELETE', '/me/second-factor', proof)).status).toBe(204)
    expect((await other.send('GET', '/me')).status).toBe(401)
    expect((await own.send('GET', '/me')).status).toBe(200)
    expect((await createApiClient(app.origin, token).send('GET', '/me')).status).toBe(200)
    expect((await signIn(app.origin)).status).toBe(200)
    expect(await auditOf(app)).toContain('user.second_factor_removed')
    expect(await app.services.db.recoveryCode.count()).toBe(0)
  })

  it('can be removed by the operator, which ends every session of the user', async () => {
    const app = await startWithSecondFactor(database)
    const { accounts } = app.services
    await expect(accounts.resetSecondFactorFor('nobody@example.com')).rejects.toMatchObject({ code: 'not_found' })
    await accounts.resetSecondFactorFor(` ${EMAIL.toUpperCase()}`)
    expect((await app.browser.send('GET', '/me')).status).toBe(401)
    expect((await signIn(app.origin)).status).toBe(200)
    await expect(accounts.resetSecondFactorFor(EMAIL)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('blocks the eleventh guess of a code, even if the right password is sent in between', async () => {
    const app = await startWithSecondFactor(database)
    const page = createPageBrowser(app.origin, { address: home })
    const statuses: number[] = []
    for (let count = 0; count < 5; count++) {
      statuses.push((await signIn(app.origin, '000000')).status)
      // Entering the password again does not allow further guesses either.
      await page.submit('/sign-in', { email: EMAIL, password: PASSWORD })
      statuses.push((await page.submit('/sign-in/code', { code: '000000' })).status)
    }
    expect(statuses).toEqual(Array(10).fill(401))
    expect((await signIn(app.origin, codeOf(app.secret, 1))).status).toBe(429)
    expect((await page.submit('/sign-in/code', { code: codeOf(app.secret, 1) })).status).toBe(429)
    expect((await signIn(app.origin, codeOf(app.secret, 1), ELSEWHERE)).status).toBe(200)
    const failures = await app.services.db.auditEntry.findMany({ where: { action: 'user.sign_in_failed' } })
    expect(failures).toHaveLength(10)
    expect(failures[0]).toMatchObject({ targetName: EMAIL, address: home, change: { reason: 'wrong code' } })
  })
})

describe('a second-factor code', () => {
  it('is valid from one step before to one step after its own', async () => {
    const app = await startWithSecondFactor(anyDatabase)
    for (const [steps, status] of [
      [-3, 401],
      [3, 401],
      [1, 200],
    ] as const) {
      await forgetUse(app)
      expect([steps, (await signIn(app.origin, codeOf(app.secret, steps))).status]).toEqual([steps, status])
    }
    // Using a code one step early invalidates the earlier codes.
    expect((await signIn(app.origin, codeOf(app.secret))).status).toBe(401)
  })

  it.each(['', '12345', 'abcdef', '１２３４５６', '12345678', 'aaaa-aaaa-aaaa-aaaa'])(
    'in an invalid format (%j) is rejected like a wrong code',
    async code => {
      const app = await startWithSecondFactor(anyDatabase)
      const answer = await signIn(app.origin, code)
      expect([answer.status, answer.json()]).toEqual([401, expect.objectContaining({ errors: [expect.anything()] })])
    },
  )

  it('is ignored if the account has no second factor', async () => {
    const app = await startApp(anyDatabase)
    await signUpInBrowser(app)
    expect((await signIn(app.origin, '000000')).status).toBe(200)
  })

  it('is rejected if it belongs to another account', async () => {
    const app = await startWithSecondFactor(anyDatabase)
    const other = await signUpInBrowser(app, 'eve@example.com')
    const { recoveryCodes } = await turnOn(other, PASSWORD)
    expect((await signIn(app.origin, recoveryCodes[0])).status).toBe(401)
  })
})

describe('changing a second factor', () => {
  it('requires the password, and removing it also a code', async () => {
    const app = await startWithSecondFactor(anyDatabase)
    const { browser, secret } = app
    for (const [method, path, body, status, field] of [
      ['POST', '/me/second-factor', { password: 'wrong password' }, 403, 'password'],
      ['DELETE', '/me/second-factor', { password: 'wrong password', code: codeOf(secret, 1) }, 403, 'password'],
      ['DELETE', '/me/second-factor', { password: PASSWORD, code: '000000' }, 403, 'code'],
      ['DELETE', '/me/second-factor', { password: PASSWORD }, 400, 'code'],
      ['POST', '/me/recovery-codes', { password: PASSWORD, code: codeOf(secret) }, 403, 'code'],
      ['POST', '/me/recovery-codes', { password: 'wrong password', code: codeOf(secret, 1) }, 403, 'password'],
    ] as const) {
      const answer = await browser.send(method, path, body)
      expect([method, path, answer.status, answer.json()]).toEqual([
        method,
        path,
        status,
        expect.objectContaining({ errors: [expect.objectContaining({ path: field })] }),
      ])
    }
    expect((await browser.send('GET', '/me/second-factor')).json()).toEqual({ isOn: true, recoveryCodesLeft: 10 })
  })

  it('is blocked at the eleventh wrong password or code, so that an open session cannot guess them', async () => {
    const { browser, secret } = await startWithSecondFactor(anyDatabase)
    const guess = { password: PASSWORD, code: '000000' }
    const statuses: number[] = []
    for (let count = 0; count < 10; count++) {
      statuses.push((await browser.send('DELETE', '/me/second-factor', guess)).status)
    }
    expect(statuses).toEqual(Array(10).fill(403))
    const right = { password: PASSWORD, code: codeOf(secret, 1) }
    expect((await browser.send('DELETE', '/me/second-factor', right)).status).toBe(429)
  })

  it('creates new recovery codes that replace the old ones', async () => {
    const app = await startWithSecondFactor(anyDatabase)
    const proof = { password: PASSWORD, code: app.recoveryCodes[0] }
    const made = await app.browser.send('POST', '/me/recovery-codes', proof)
    expect(made.status).toBe(201)
    const { recoveryCodes } = RecoveryCodes.parse(made.json())
    expect(recoveryCodes).toHaveLength(10)
    expect((await signIn(app.origin, app.recoveryCodes[1])).status).toBe(401)
    expect((await signIn(app.origin, recoveryCodes[1])).status).toBe(200)
  })

  it('fails to begin one while one is on, and to confirm one that was not begun or was replaced', async () => {
    const app = await startApp(anyDatabase)
    const browser = await signUpInBrowser(app)
    const confirm = (code: string) => browser.send('POST', '/me/second-factor/confirmation', { code })
    const begin = async () => {
      const answer = await browser.send('POST', '/me/second-factor', { password: PASSWORD })
      return NewSecondFactor.parse(answer.json())
    }
    expect((await confirm('000000')).status).toBe(409)
    const first = await begin()
    const second = await begin()
    expect((await confirm(codeOf(first.secret))).status).toBe(403)
    expect((await confirm(codeOf(second.secret))).status).toBe(200)
    expect((await confirm(codeOf(second.secret, 1))).status).toBe(409)
    expect((await browser.send('POST', '/me/second-factor', { password: PASSWORD })).status).toBe(409)
  })

  it('is not possible by a password reset, so that access to the mailbox is not enough', async () => {
    const app = await startMailApp(anyDatabase)
    const { browser } = await newConfirmedPerson(app)
    const { secret } = await turnOn(browser, PASSWORD)
    await browser.send('POST', '/password-resets', { email: EMAIL })
    const { token } = linkIn(await app.smtp.next())
    expect((await browser.send('PUT', '/password-resets', { token, password: NEW_PASSWORD })).status).toBe(204)
    const credentials = { email: EMAIL, password: NEW_PASSWORD }
    const asked = await createBrowser(app.origin).send('POST', '/session', credentials)
    expect([asked.status, asked.text]).toEqual([401, expect.stringContaining('second factor')])
    const answer = await createBrowser(app.origin).send('POST', '/session', { ...credentials, code: codeOf(secret, 1) })
    expect(answer.status).toBe(200)
  })

  it('needs the key that encrypted it; starting without that key fails and names it', async () => {
    const app = await startWithSecondFactor(anyDatabase)
    // The key's canary is missing, as in an incomplete backup; the encrypted data still reveals the missing key.
    await app.services.db.installation.deleteMany()
    const env = { PATCHBAY_MASTER_KEY: Buffer.alloc(32, 8).toString('base64') }
    await expect(app.startAnother(env)).rejects.toThrow(/sealed with master key [0-9a-f]{8}/)
  })
})

describe('the page that asks for a code', () => {
  const atSecondStep = async (app: AccountsApp, returnTo = '/') => {
    const page = createPageBrowser(app.origin, { address: home })
    await page.get(`/sign-in?${new URLSearchParams({ return_to: returnTo })}`)
    const answer = await page.submit('/sign-in', { email: EMAIL, password: PASSWORD })
    expect([answer.status, answer.location]).toEqual([303, '/sign-in/code'])
    await page.get('/sign-in/code')
    return page
  }
  const isSignedIn = async (page: ReturnType<typeof createPageBrowser>): Promise<boolean> =>
    (await page.get('/api/v1/me')).status === 200

  it('starts the session only with a right code, and redirects to the requested page', async () => {
    const app = await startWithSecondFactor(anyDatabase)
    const page = await atSecondStep(app, '/api/v1/openapi.json?x=1')
    expect(await isSignedIn(page)).toBe(false)
    const wrong = await page.submit('/sign-in/code', { code: '000000' })
    expect([wrong.status, wrong.html]).toEqual([401, expect.stringContaining('The code is wrong')])
    expect(await isSignedIn(page)).toBe(false)
    const right = await page.submit('/sign-in/code', { code: codeOf(app.secret, 1) })
    expect([right.status, right.location]).toEqual([303, '/api/v1/openapi.json?x=1'])
    expect(await isSignedIn(page)).toBe(true)
  })

  it('accepts a recovery code', async () => {
    const app = await startWithSecondFactor(anyDatabase)
    const page = await atSecondStep(app)
    await page.submit('/sign-in/code', { code: app.recoveryCodes[3] ?? '' })
    expect(await isSignedIn(page)).toBe(true)
  })

  it('uses a new session ID after each step, so that a planted one gains nothing', async () => {
    const app = await startWithSecondFactor(anyDatabase)
    const planted = await atSecondStep(app)
    const [before = ''] = planted.cookies.values()
    await planted.submit('/sign-in', { email: EMAIL, password: PASSWORD })
    const [between = ''] = planted.cookies.values()
    await planted.submit('/sign-in/code', { code: codeOf(app.secret, 1) })
    const [after = ''] = planted.cookies.values()
    expect(new Set([before, between, after]).size).toBe(3)
    for (const sid of [before, between]) {
      const thief = createPageBrowser(app.origin, { address: home })
      thief.cookies.set('sid', sid)
      expect(await isSignedIn(thief)).toBe(false)
      expect((await thief.get('/sign-in/code')).location).toBe('/sign-in')
    }
  })

  it('expires after five minutes', async () => {
    const app = await startWithSecondFactor(anyDatabase)
    const page = await atSecondStep(app)
    const [waiting] = await app.services.db.session.findMany({ where: { userId: null } })
    const left = (waiting?.expiresAt.getTime() ?? 0) - Date.now()
    expect(left).toBeGreaterThan(4 * 60_000)
    expect(left).toBeLessThanOrEqual(5 * 60_000)
    await app.services.db.session.updateMany({ where: { userId: null }, data: { expiresAt: new Date() } })
    const late = await page.submit('/sign-in/code', { code: codeOf(app.secret, 1) })
    expect([late.status, late.location]).toEqual([303, '/sign-in'])
    expect(await isSignedIn(page)).toBe(false)
  })

  it('expires if the password changes meanwhile', async () => {
    const app = await startWithSecondFactor(anyDatabase)
    const page = await atSecondStep(app)
    await app.services.db.user.updateMany({ data: { passwordHash: 'another' } })
    const answer = await page.submit('/sign-in/code', { code: codeOf(app.secret, 1) })
    expect([answer.status, answer.html]).toEqual([401, expect.stringContaining('start over')])
    expect(await isSignedIn(page)).toBe(false)
  })

  it('asks for the password first, and rejects forms from other sites', async () => {
    const app = await startWithSecondFactor(anyDatabase)
    const stranger = createPageBrowser(app.origin, { address: home })
    expect((await stranger.get('/sign-in/code')).location).toBe('/sign-in')
    expect((await stranger.submit('/sign-in/code', { code: codeOf(app.secret, 1) })).location).toBe('/sign-in')
    const page = await atSecondStep(app)
    const foreign = await page.submit(
      '/sign-in/code',
      { code: codeOf(app.secret, 1) },
      { origin: 'https://evil.example' },
    )
    expect(foreign.status).toBe(403)
    expect(await isSignedIn(page)).toBe(false)
  })
})
