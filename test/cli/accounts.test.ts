import { beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { turnOn } from '../accounts/second-factor.ts'
import { callTool } from '../process/calls.ts'
import { createApiClient, makeServer, signUp } from '../support/api-client.ts'
import { createBrowser } from '../support/browser.ts'
import { type Patchbay, runCommand, startPatchbay, temporaryDirectory } from '../support/process.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const password = 'correct horse battery'
const Me = z.object({ user: z.looseObject({}), organizations: z.array(z.looseObject({})) })
const NewToken = z.looseObject({ token: z.string().startsWith('pbk_') })

/** The one JSON value that a command prints. */
const runJson = async (args: readonly string[], options: Parameters<typeof runCommand>[1]): Promise<unknown> => {
  const { code, stdout, stderr } = await runCommand([...args, '--json'], options)
  expect({ code, stderr, lines: stdout.split('\n').length }).toEqual({ code: 0, stderr: '', lines: 2 })
  return JSON.parse(stdout)
}

describe('at the command line of an installation without a server', () => {
  it('the first account is the operator and owns the organization it names; another joins it as builder', async () => {
    const options = { directory: temporaryDirectory() }
    const account = (email: string) => ['user', 'create', '--email', email, '--password', password]
    const ada = await runJson([...account('ada@example.com'), '--organization', 'Lovelace'], options)
    const bob = await runJson(account('bob@example.com'), options)
    const taken = await runCommand(account('bob@example.com'), options)
    expect(taken).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^patchbay: .*already[^\n]*\n$/) })
    const patchbay = await startPatchbay(options)
    const meOf = async (email: string): Promise<unknown> => {
      const browser = createBrowser(patchbay.origin)
      await browser.signIn(email, password)
      return (await browser.send('GET', '/me')).json()
    }
    const organization = { id: expect.any(String), name: 'Lovelace' }
    expect(await meOf('ada@example.com')).toEqual({ user: ada, organizations: [{ ...organization, role: 'owner' }] })
    expect(await meOf('bob@example.com')).toEqual({ user: bob, organizations: [{ ...organization, role: 'builder' }] })
    expect([ada, bob]).toMatchObject([{ isOperator: true }, { isOperator: false }])
    await patchbay.stop()
  })
})

describe('at the command line beside a running server', () => {
  let patchbay: Patchbay
  beforeAll(async () => {
    patchbay = await startPatchbay()
  })

  it('a token is made that works there at once, for the API and for MCP, and is shaped as there', async () => {
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
    // It has been used meanwhile.
    expect({ ...listed, lastUsedAt: null, updatedAt: view.updatedAt }).toEqual(view)
    expect(view).toMatchObject({ scopes: ['read', 'write', 'mcp'], lastUsedAt: null })
  })

  it('a token can do what its scopes say, and is all that is printed without --json', async () => {
    const { email } = await signUp(patchbay.origin)
    const args = ['token', 'create', '--email', email, '--name', 'reader', '--scopes', 'read']
    const { code, stdout } = await runCommand(args, patchbay.settings)
    expect(code).toBe(0)
    const api = createApiClient(patchbay.origin, stdout.trimEnd())
    expect((await api.send('GET', '/toolkits')).status).toBe(200)
    expect((await api.send('POST', '/toolkits', { title: 'No' })).status).toBe(403)
  })

  it('an account is made that can sign in there at once', async () => {
    const args = ['user', 'create', '--email', 'eve@example.com', '--password', password, '--operator']
    const user = await runJson(args, patchbay.settings)
    expect((await createBrowser(patchbay.origin).signIn('eve@example.com', password)).json()).toMatchObject({ user })
    expect(user).toMatchObject({ isOperator: true })
  })

  it('the second factor of who has lost everything is removed, and the password alone signs in there at once', async () => {
    const email = 'lost@example.com'
    const reset = ['user', 'reset-second-factor', '--email', email]
    const browser = createBrowser(patchbay.origin)
    const user = z.object({ id: z.string() }).parse((await browser.signUp(email, password)).json())
    const none = await runCommand(reset, patchbay.settings)
    expect(none).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^patchbay: .*no second factor/) })
    await turnOn(browser, password)
    expect((await browser.signIn(email, password)).status).toBe(401)
    expect(await runJson(reset, patchbay.settings)).toMatchObject({ id: user.id, email })
    expect((await browser.signIn(email, password)).status).toBe(200)
  })
})
