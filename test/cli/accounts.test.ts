import { beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { turnOn } from '../identity/second-factor.ts'
import { callTool } from '../process/calls.ts'
import { createApiClient, makeServer, signUp } from '../support/api-client.ts'
import { createBrowser } from '../support/browser.ts'
import { type Patchbay, runSharedCommand, startPatchbay, temporaryDirectory } from '../support/process.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const password = 'correct horse battery'
const Me = z.object({ user: z.looseObject({}), organizations: z.array(z.looseObject({})) })
const NewToken = z.looseObject({ token: z.string().startsWith('pbk_') })

/** Runs a command and parses the one JSON value that it prints. */
const runJson = async (args: readonly string[], options: Parameters<typeof runSharedCommand>[1]): Promise<unknown> => {
  const { code, stdout, stderr } = await runSharedCommand([...args, '--json'], options)
  expect({ code, stderr, lines: stdout.split('\n').length }).toEqual({ code: 0, stderr: '', lines: 2 })
  return JSON.parse(stdout)
}

const account = (email: string): string[] => ['user', 'create', '--email', email, '--password', password]

describe('at the command line', () => {
  const options = { directory: temporaryDirectory() }
  let patchbay: Patchbay
  let created: unknown[]
  beforeAll(async () => {
    created = [
      await runJson([...account('ada@example.com'), '--organization', 'Lovelace'], options),
      await runJson(account('bob@example.com'), options),
    ]
    patchbay = await startPatchbay(options)
  })

  it('the first account becomes the operator and owns the organization it names; another joins it as builder', async () => {
    const [ada, bob] = created
    const meOf = async (email: string): Promise<unknown> => {
      const browser = createBrowser(patchbay.origin)
      await browser.signIn(email, password)
      return (await browser.send('GET', '/me')).json()
    }
    const organization = { id: expect.any(String), name: 'Lovelace' }
    expect(await meOf('ada@example.com')).toEqual({ user: ada, organizations: [{ ...organization, role: 'owner' }] })
    expect(await meOf('bob@example.com')).toEqual({ user: bob, organizations: [{ ...organization, role: 'builder' }] })
    expect(created).toMatchObject([{ isOperator: true }, { isOperator: false }])
    const taken = await runSharedCommand(account('bob@example.com'), options)
    expect(taken).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^patchbay: .*already[^\n]*\n$/) })
  })

  it('a created token works at once in the API and in MCP, and looks the same there', async () => {
    const builder = await signUp(patchbay.origin)
    const tools = [{ name: 'echo', method: 'GET', url: 'http://sample.patchbay.internal/echo' }]
    const { url } = await makeServer(builder, tools, { server: { access: 'private' } })
    const made = NewToken.parse(
      await runJson(['token', 'create', '--email', builder.email, '--name', 'ci', '--expires-in-days', '7'], {
        ...patchbay.settings,
      }),
    )
    const { token, ...view } = made
    expect((await callTool(url, 'echo', {}, { authorization: `Bearer ${token}` })).status).toBe(200)
    const api = createApiClient(patchbay.origin, token)
    expect(Me.parse((await api.send('GET', '/me')).body).user).toMatchObject({ email: builder.email })
    const { items } = z
      .object({ items: z.array(z.looseObject({ name: z.string() })) })
      .parse((await api.send('GET', '/tokens')).body)
    const listed = items.find(({ name }) => name === 'ci')
    // The token has been used in the meantime.
    expect({ ...listed, lastUsedAt: null, updatedAt: view.updatedAt }).toEqual(view)
    expect(view).toMatchObject({ scopes: ['read', 'write', 'mcp'], lastUsedAt: null })
  })

  it('a token allows what its scopes allow, and is all that is printed without --json', async () => {
    const { email } = await signUp(patchbay.origin)
    const args = ['token', 'create', '--email', email, '--name', 'reader', '--scopes', 'read']
    const { code, stdout } = await runSharedCommand(args, patchbay.settings)
    expect(code).toBe(0)
    const api = createApiClient(patchbay.origin, stdout.trimEnd())
    expect((await api.send('GET', '/toolkits')).status).toBe(200)
    expect((await api.send('POST', '/toolkits', { title: 'No' })).status).toBe(403)
  })

  it('an account created next to a running server can sign in at once', async () => {
    const user = await runJson([...account('eve@example.com'), '--operator'], patchbay.settings)
    expect((await createBrowser(patchbay.origin).signIn('eve@example.com', password)).json()).toMatchObject({ user })
    expect(user).toMatchObject({ isOperator: true })
  })

  it('disabling a user takes effect next to a running server, and restoring ends it', async () => {
    const person = await signUp(patchbay.origin)
    const reason = 'Sends spam'
    const disabled = await runJson(['user', 'disable', '--email', person.email, '--reason', reason], patchbay.settings)
    expect(disabled).toMatchObject({ kind: 'user', name: person.email, reason, suspendedById: null })
    await vi.waitFor(async () => expect((await person.send('GET', '/me')).status).toBe(403))
    const refused = await createBrowser(patchbay.origin).signIn(person.email, 'correct horse battery staple')
    expect(JSON.stringify(refused.json())).toContain(reason)
    const listed = await runSharedCommand(['user', 'list', '--search', person.email], patchbay.settings)
    expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining(`disabled: ${reason}`) })
    await runJson(['user', 'restore', '--email', person.email], patchbay.settings)
    await vi.waitFor(async () => expect((await person.send('GET', '/me')).status).toBe(200))
    const all = await runJson(['user', 'list'], patchbay.settings)
    expect(all).toContainEqual(expect.objectContaining({ email: person.email, suspendedReason: null }))
    const again = await runSharedCommand(['user', 'restore', '--email', person.email], patchbay.settings)
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('is not suspended') })
  })

  it('resetting a password ends the sessions, with a new password or with a link that works once', async () => {
    const email = 'forgot@example.com'
    const browser = createBrowser(patchbay.origin)
    await browser.signUp(email, password)
    const other = 'another long password'
    await runJson(['user', 'reset-password', '--email', email, '--password', other], patchbay.settings)
    expect((await browser.send('GET', '/me')).status).toBe(401)
    expect((await browser.signIn(email, password)).status).toBe(401)
    expect((await browser.signIn(email, other)).status).toBe(200)

    const { stdout } = await runSharedCommand(['user', 'reset-password', '--email', email], patchbay.settings)
    const token = new URL(stdout.trim()).searchParams.get('token')
    const api = createApiClient(patchbay.origin)
    const set = () => api.send('PUT', '/password-resets', { token, password })
    expect((await set()).status).toBeLessThan(300)
    expect((await set()).status).toBe(400)
    expect((await browser.signIn(email, password)).status).toBe(200)
  })

  it('resetting the second factor lets the user sign in with the password only, at once', async () => {
    const email = 'lost@example.com'
    const reset = ['user', 'reset-second-factor', '--email', email]
    const browser = createBrowser(patchbay.origin)
    const user = z.object({ id: z.string() }).parse((await browser.signUp(email, password)).json())
    const none = await runSharedCommand(reset, patchbay.settings)
    expect(none).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^patchbay: Two-factor authentication is not on/),
    })
    await turnOn(browser, password)
    expect((await browser.signIn(email, password)).status).toBe(401)
    expect(await runJson(reset, patchbay.settings)).toMatchObject({ id: user.id, email })
    expect((await browser.signIn(email, password)).status).toBe(200)
  })
})
