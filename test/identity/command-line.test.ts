import { describe, expect, it } from 'vitest'
import { AppError } from '../../src/lib/kernel/errors.ts'
import { createApiClient } from '../support/api-client.ts'
import { createBrowser } from '../support/browser.ts'
import { anyDatabase, databasesOfRun, startApp } from './app.ts'

const password = 'correct horse battery staple'

describe.each(databasesOfRun)('an account created on the command line on $kind', database => {
  it('is operator and owner if it is the first, and joins the oldest organization otherwise', async () => {
    const { services } = await startApp(database, { PATCHBAY_SIGNUP: 'closed' })
    const { accounts, db } = services
    const organizationsOf = async (userId: string) => {
      const rows = await db.membership.findMany({ where: { userId }, include: { organization: true } })
      return rows.map(({ role, organization }) => [organization.name, role])
    }
    const ada = await accounts.createUser({ email: ' Ada@Example.com', password, organization: 'Lovelace' })
    const bob = await accounts.createUser({ email: 'bob@example.com', password })
    const cyd = await accounts.createUser({
      email: 'cyd@example.com',
      password,
      organization: 'Newton',
      isOperator: true,
    })
    const dan = await accounts.createUser({ email: 'dan@example.com', password, organization: 'Newton' })
    expect(ada).toMatchObject({ email: 'ada@example.com', isOperator: true })
    expect([bob.isOperator, cyd.isOperator, dan.isOperator]).toEqual([false, true, false])
    expect(await organizationsOf(ada.id)).toEqual([['Lovelace', 'owner']])
    expect(await organizationsOf(bob.id)).toEqual([['Lovelace', 'builder']])
    expect(await organizationsOf(cyd.id)).toEqual([['Newton', 'owner']])
    expect(await organizationsOf(dan.id)).toEqual([['Newton', 'builder']])
  })

  it('signs in through the API, and its token works there', async () => {
    const { origin, services } = await startApp(database)
    const made = await services.accounts.createUser({ email: 'ada@example.com', password })
    const user = JSON.parse(JSON.stringify(made))
    expect((await createBrowser(origin).signIn('ada@example.com', password)).json()).toMatchObject({ user })
    const token = await services.accounts.createTokenFor('ADA@example.com', { name: 'ci', scopes: ['read'] })
    expect(token).toMatchObject({ name: 'ci', scopes: ['read'], lastUsedAt: null })
    expect((await createApiClient(origin, token.token).send('GET', '/me')).body).toMatchObject({ user })
  })
})

describe('on the command line', () => {
  it.each([
    [{ email: 'ada', password }, 'invalid_request', /email: must have the form name@example\.com/],
    [{ email: 'ada@example.com', password: 'short' }, 'invalid_request', /password: must have 8 to 256/],
    [{ email: 'taken@example.com', password }, 'conflict', /already/],
  ])('an account with %j is rejected', async (input, code, message) => {
    const { services } = await startApp(anyDatabase)
    await services.accounts.createUser({ email: 'taken@example.com', password })
    const refusal = await services.accounts.createUser(input).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(AppError)
    expect(refusal).toMatchObject({ code, message: expect.stringMatching(message) })
  })

  it('an organization with another name is rejected with single tenancy', async () => {
    const { services } = await startApp(anyDatabase, { PATCHBAY_TENANCY: 'single' })
    await services.accounts.createUser({ email: 'ada@example.com', password, organization: 'One' })
    await expect(
      services.accounts.createUser({ email: 'bob@example.com', password, organization: 'Two' }),
    ).rejects.toMatchObject({ code: 'invalid_request', message: expect.stringContaining('"One"') })
  })

  it('a token for an unknown user is rejected', async () => {
    const { services } = await startApp(anyDatabase)
    await expect(services.accounts.createTokenFor('nobody@example.com', { name: 'x' })).rejects.toMatchObject({
      code: 'not_found',
    })
  })
})
