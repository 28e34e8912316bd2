import { describe, expect, it } from 'vitest'
import { createApiClient } from '../support/api-client.ts'
import { createBrowser } from '../support/browser.ts'
import { anyDatabase, databasesOfRun, EMAIL, makeToken, NEW_PASSWORD, PASSWORD } from './app.ts'
import { newConfirmedPerson, newPerson, startMailApp } from './mail.ts'

const CHANGE = { currentPassword: PASSWORD, password: NEW_PASSWORD }

describe.each(databasesOfRun)('changing the password on $kind', database => {
  it('ends every other session, link and grant, and continues with a new session ID', async () => {
    const app = await startMailApp(database)
    const { browser } = await newPerson(app)
    const { db } = app.services
    const user = await db.user.findFirstOrThrow()
    await db.oAuthArtifact.create({ data: { kind: 'Grant', handleHash: 'x', payload: {}, userId: user.id } })
    const elsewhere = createBrowser(app.origin)
    await elsewhere.signIn(EMAIL, PASSWORD)
    const before = browser.cookies.get('sid') ?? ''

    const changed = await browser.send('PUT', '/me/password', CHANGE)
    expect(changed.status).toBe(200)
    expect(changed.json()).toEqual({ csrfToken: expect.any(String) })
    expect(browser.cookies.get('sid')).not.toBe(before)
    expect((await browser.send('GET', '/me')).status).toBe(200)
    expect((await elsewhere.send('GET', '/me')).status).toBe(401)
    const planted = createBrowser(app.origin)
    planted.cookies.set('sid', before)
    expect((await planted.send('GET', '/me')).status).toBe(401)
    expect(await db.session.count()).toBe(1)
    expect(await db.oAuthArtifact.count()).toBe(0)
    expect(await db.mailedLink.count()).toBe(0)
    expect((await createBrowser(app.origin).signIn(EMAIL, NEW_PASSWORD)).status).toBe(200)
    expect((await createBrowser(app.origin).signIn(EMAIL, PASSWORD)).status).toBe(401)
    expect(await db.auditEntry.findFirst({ where: { action: 'user.password_changed' } })).toMatchObject({
      actorId: user.id,
      change: { sessionsEnded: 2, grantsEnded: 1 },
    })
    expect((await app.smtp.next()).headers).toContain('Subject: Your password for Patchbay was changed')
  })

  it('succeeds once if two sessions with the current password do it concurrently', async () => {
    const app = await startMailApp(database)
    const { browser } = await newPerson(app)
    const elsewhere = createBrowser(app.origin)
    await elsewhere.signIn(EMAIL, PASSWORD)
    await elsewhere.loadCsrfToken()
    const wishes = [NEW_PASSWORD, 'a third horse a third staple']
    const answers = await Promise.all(
      [browser, elsewhere].map((one, index) => one.send('PUT', '/me/password', { ...CHANGE, password: wishes[index] })),
    )
    const changed = answers.flatMap(({ status }, index) => (status === 200 ? [wishes[index] ?? ''] : []))
    expect(changed).toHaveLength(1)
    expect((await createBrowser(app.origin).signIn(EMAIL, changed[0] ?? '')).status).toBe(200)
  })

  it('does not let a running request restore an ended session', async () => {
    const app = await startMailApp(database)
    await newPerson(app)
    const { sessionStore, db } = app.services
    const elsewhere = createBrowser(app.origin)
    await elsewhere.signIn(EMAIL, PASSWORD)
    const [sid = ''] = decodeURIComponent(elsewhere.cookies.get('sid') ?? '').split('.')
    // Simulates a request that began before the session ended and saves the session afterward.
    const session = await new Promise<Parameters<typeof sessionStore.set>[1]>((resolve, reject) => {
      sessionStore.get(sid, (error, found) => (found ? resolve(found) : reject(error ?? new Error('no session'))))
    })
    await db.session.deleteMany()
    await new Promise<void>((resolve, reject) => {
      sessionStore.set(sid, session, error => (error ? reject(error) : resolve()))
    })
    expect(await db.session.count()).toBe(0)
  })
})

describe('changing the password', () => {
  it('requires the current password, with as few guesses as a sign-in', async () => {
    const app = await startMailApp(anyDatabase)
    const { browser } = await newPerson(app)
    const wrong = { ...CHANGE, currentPassword: 'wrong password' }
    const statuses: number[] = []
    for (let count = 0; count < 11; count++) statuses.push((await browser.send('PUT', '/me/password', wrong)).status)
    expect(statuses).toEqual([...Array(10).fill(403), 429])
    expect((await browser.send('PUT', '/me/password', CHANGE)).status).toBe(429)
  })

  it.each([
    [{ currentPassword: 'wrong password', password: NEW_PASSWORD }, 403, 'currentPassword'],
    [{ currentPassword: PASSWORD, password: 'short' }, 400, 'password'],
    [{ password: NEW_PASSWORD }, 400, 'currentPassword'],
    [{ currentPassword: PASSWORD, password: 'x'.repeat(257) }, 400, 'password'],
  ])('to %j is rejected with %i and names the field', async (body, status, path) => {
    const app = await startMailApp(anyDatabase)
    const { browser } = await newPerson(app)
    const answer = await browser.send('PUT', '/me/password', body)
    expect(answer.status).toBe(status)
    expect(answer.json()).toMatchObject({ errors: [{ path }] })
    expect((await browser.send('GET', '/me')).status).toBe(200)
  })

  it('with a write token requires the password too, and keeps the token', async () => {
    const app = await startMailApp(anyDatabase)
    const { browser } = await newConfirmedPerson(app)
    const script = createApiClient(app.origin, await makeToken(browser))
    expect((await script.send('PUT', '/me/password', { ...CHANGE, currentPassword: 'x' })).status).toBe(403)
    expect(await script.send('PUT', '/me/password', CHANGE)).toMatchObject({ status: 200, body: { csrfToken: null } })
    expect((await browser.send('GET', '/me')).status).toBe(401)
    expect((await script.send('GET', '/me')).status).toBe(200)
  })

  it('with a cookie requires the CSRF token', async () => {
    const app = await startMailApp(anyDatabase)
    const { browser } = await newPerson(app)
    const forged = createBrowser(app.origin)
    forged.cookies.set('sid', browser.cookies.get('sid') ?? '')
    expect((await forged.send('PUT', '/me/password', CHANGE)).status).toBe(403)
    expect((await createBrowser(app.origin).signIn(EMAIL, PASSWORD)).status).toBe(200)
  })
})
