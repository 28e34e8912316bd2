import { once } from 'node:events'
import { request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { createBrowser } from '../support/browser.ts'
import { SETUP_TOKEN } from '../support/setup-token.ts'
import { anyDatabase, databasesOfRun, PASSWORD, startApp } from './app.ts'

/** Sends a POST request, with any Host, and returns the status. */
const postWith = async (
  url: string,
  contentType: string,
  body: string,
  headers: Record<string, string | undefined>,
): Promise<number | undefined> => {
  const sending = request(url, { method: 'POST', headers: { 'content-type': contentType, ...headers } })
  sending.end(body)
  const [response] = await once(sending, 'response')
  response.resume()
  return response.statusCode
}

describe.each(databasesOfRun)('signing up on $kind', database => {
  it('creates an account, its own organization, and a session', async () => {
    const { origin } = await startApp(database)
    const browser = createBrowser(origin)
    const answer = await browser.signUp('ada@example.com', PASSWORD)
    expect(answer.status).toBe(201)
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    const user = {
      id: expect.any(String),
      email: 'ada@example.com',
      emailVerifiedAt: null,
      isOperator: true,
      createdAt: time,
      updatedAt: time,
    }
    expect(answer.json()).toEqual(user)
    expect((await browser.send('GET', '/me')).json()).toEqual({
      user,
      organizations: [{ id: expect.any(String), name: 'ada', role: 'owner' }],
    })
  })

  it('makes only the first account the operator, and separates the organizations', async () => {
    const { origin } = await startApp(database)
    const ada = createBrowser(origin)
    const bob = createBrowser(origin)
    await ada.signUp('ada@example.com', PASSWORD)
    expect((await bob.signUp('bob@example.com', PASSWORD)).json()).toMatchObject({ isOperator: false })
    expect((await bob.send('GET', '/me')).json()).toMatchObject({ organizations: [{ name: 'bob', role: 'owner' }] })
  })

  it('with an email that is taken, in any spelling, responds with 409', async () => {
    const { origin } = await startApp(database)
    await createBrowser(origin).signUp(' Ada@Example.COM ', PASSWORD)
    const answer = await createBrowser(origin).signUp('ada@example.com', 'another password')
    expect(answer.status).toBe(409)
    expect(answer.json()).toMatchObject({ status: 409, errors: [{ path: 'email', message: 'is already taken' }] })
    expect(answer.headers.getSetCookie()).toEqual([])
  })

  it('ten times at once creates ten accounts and exactly one operator', async () => {
    const { origin, services } = await startApp(database)
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => createBrowser(origin).signUp(`user${index}@example.com`, PASSWORD)),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201))
    expect(await services.db.user.count({ where: { isOperator: true } })).toBe(1)
    expect(await services.db.organization.count()).toBe(10)
  })

  it('with one email ten times at once creates one account', async () => {
    const { origin } = await startApp(database)
    const attempts = Array.from({ length: 10 }, () => createBrowser(origin).signUp('ada@example.com', PASSWORD))
    const statuses = (await Promise.all(attempts)).map(({ status }) => status)
    expect(statuses.sort()).toEqual([201, ...Array(9).fill(409)])
  })

  it.each([
    { PATCHBAY_HOST: '0.0.0.0' },
    { PATCHBAY_BASE_URL: 'https://patchbay.example' },
    { PATCHBAY_TRUST_PROXY: '127.0.0.0/8' },
  ])('requires the setup token for the first account if others can connect: %j', async env => {
    const { origin } = await startApp(database, env)
    const person = { email: 'ada@example.com', password: PASSWORD }
    const without = await createBrowser(origin).send('POST', '/signup', person)
    expect(without.status).toBe(403)
    expect(without.json()).toMatchObject({
      detail: expect.stringContaining('printed at startup'),
      errors: [{ path: 'setupToken', message: 'is missing' }],
    })
    expect((await createBrowser(origin).signUp('mallory@example.com', PASSWORD, 'guess')).status).toBe(403)
    expect((await createBrowser(origin).signUp('ada@example.com', PASSWORD, SETUP_TOKEN)).json()).toMatchObject({
      isOperator: true,
    })
    expect((await createBrowser(origin).send('POST', '/signup', { ...person, email: 'bob@example.com' })).status).toBe(
      201,
    )
  })

  it.each([
    { forwarded: 'for=192.0.2.1' },
    { via: '1.1 proxy' },
    { 'x-forwarded-for': '192.0.2.1' },
    { 'x-forwarded-host': 'patchbay.example' },
    { 'x-forwarded-anything': '' },
    { 'x-real-ip': '192.0.2.1' },
    { host: 'patchbay.example' },
  ])('requires the setup token for the first account if the request came through a proxy: %j', async headers => {
    const { origin, services } = await startApp(database)
    const person = { email: 'ada@example.com', password: PASSWORD }
    expect(await postWith(`${origin}/api/v1/signup`, 'application/json', JSON.stringify(person), headers)).toBe(403)
    const form = String(new URLSearchParams(person))
    expect(await postWith(`${origin}/sign-up`, 'application/x-www-form-urlencoded', form, headers)).toBe(403)
    expect(await services.db.user.count()).toBe(0)
    expect((await createBrowser(origin).send('POST', '/signup', person)).json()).toMatchObject({ isOperator: true })
  })

  it.each(['closed', 'invite'])('is possible only for the first account if sign-up is %s', async signup => {
    const { origin } = await startApp(database, { PATCHBAY_SIGNUP: signup })
    expect((await createBrowser(origin).signUp('ada@example.com', PASSWORD)).status).toBe(201)
    expect((await createBrowser(origin).signUp('bob@example.com', PASSWORD)).status).toBe(403)
  })

  it('joins the only organization as builder with single tenancy', async () => {
    const { origin } = await startApp(database, { PATCHBAY_TENANCY: 'single' })
    const [ada, bob] = [createBrowser(origin), createBrowser(origin)]
    await ada.signUp('ada@example.com', PASSWORD)
    await bob.signUp('bob@example.com', PASSWORD)
    expect((await ada.send('GET', '/me')).json()).toMatchObject({ organizations: [{ name: 'ada', role: 'owner' }] })
    expect((await bob.send('GET', '/me')).json()).toMatchObject({ organizations: [{ name: 'ada', role: 'builder' }] })
  })

  it('from one address too many times responds with 429', async () => {
    const { origin } = await startApp(database, { PATCHBAY_SIGNUP: 'closed' })
    await createBrowser(origin).signUp('ada@example.com', PASSWORD)
    for (let count = 1; count < 50; count++) {
      expect((await createBrowser(origin).signUp('bob@example.com', PASSWORD)).status).toBe(403)
    }
    const answer = await createBrowser(origin).signUp('bob@example.com', PASSWORD)
    expect(answer.status).toBe(429)
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  it('after the demo was run takes over the demo, and nobody can sign in as the demo', async () => {
    const { origin, services } = await startApp(database)
    const demo = await services.accounts.getDemoActor()
    expect(await services.accounts.getDemoActor()).toEqual(demo)
    expect(await services.accounts.isAnyUser()).toBe(false)
    const browser = createBrowser(origin)
    expect((await browser.signUp('ada@example.com', PASSWORD)).json()).toMatchObject({ isOperator: true })
    const [organizationId] = demo.memberships.keys()
    expect((await browser.send('GET', '/me')).json()).toMatchObject({
      organizations: [{ id: organizationId, name: 'ada', role: 'owner' }],
    })
    for (const password of ['', ' ', PASSWORD]) {
      expect((await createBrowser(origin).signIn('demo@patchbay.internal', password)).status).toBe(401)
    }
    expect((await services.accounts.getDemoActor()).isOperator).toBe(true)
    expect(await services.db.user.findMany({ select: { email: true } })).toEqual([{ email: 'ada@example.com' }])
  })
})

describe('signing up with', () => {
  it('the demo’s email fails as taken, before and after the demo was run', async () => {
    const { origin, services } = await startApp(anyDatabase)
    const attempt = async () => (await createBrowser(origin).signUp('Demo@patchbay.internal', PASSWORD)).status
    expect(await attempt()).toBe(409)
    await services.accounts.getDemoActor()
    expect(await attempt()).toBe(409)
    expect(await services.accounts.isAnyUser()).toBe(false)
  })

  it.each(['/signup', '/session'])('more than sixteen KiB is rejected by %s, which names the limit', async path => {
    const { origin } = await startApp(anyDatabase)
    const input = { email: 'a@example.com', password: 'a'.repeat(16 * 1_024) }
    const answer = await createBrowser(origin).send('POST', path, input)
    expect(answer.status).toBe(413)
    expect(answer.json()).toMatchObject({ detail: 'The request body is larger than 16384 bytes.' })
  })

  it('invalid input is rejected, and the errors name the fields', async () => {
    const { origin } = await startApp(anyDatabase)
    const inputs: [object, string][] = [
      [{ email: 'a@example.com', password: 'seven77' }, 'password'],
      [{ email: 'a@example.com', password: 'a'.repeat(257) }, 'password'],
      [{ email: 'a@example.com' }, 'password'],
      [{ email: 'example.com', password: PASSWORD }, 'email'],
      [{ email: `${'a'.repeat(243)}@example.com`, password: PASSWORD }, 'email'],
      [{ email: 1, password: PASSWORD }, 'email'],
      [{ email: 'a@example.com', password: PASSWORD, setupToken: {} }, 'setupToken'],
    ]
    for (const [input, path] of inputs) {
      const answer = await createBrowser(origin).send('POST', '/signup', input)
      expect([answer.status, answer.json()]).toMatchObject([400, { errors: [{ path, message: expect.any(String) }] }])
    }
  })

  it('a password of any eight characters works for signing in, whatever the keyboard', async () => {
    const { origin } = await startApp(anyDatabase)
    const composed = 'pä😀😀😀😀😀é'.normalize('NFC')
    expect((await createBrowser(origin).signUp('ada@example.com', composed)).status).toBe(201)
    expect((await createBrowser(origin).signIn('ada@example.com', composed.normalize('NFD'))).status).toBe(200)
  })
})
