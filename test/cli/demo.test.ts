import { expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { knock } from '../mcp/messages.ts'
import { createApiClient } from '../support/api-client.ts'
import { createBrowser } from '../support/browser.ts'
import { answerJson, startFakeApi } from '../support/fake-api.ts'
import {
  type CommandOptions,
  changeDatabase,
  runCommand,
  runSharedCommand,
  startPatchbay,
  temporaryDirectory,
} from '../support/process.ts'

vi.setConfig({ testTimeout: 60_000 })

const Demo = z.object({
  id: z.uuid(),
  url: z.url(),
  access: z.enum(['public', 'organization', 'private']),
  tools: z.array(z.string()),
  call: z.object({ name: z.string(), arguments: z.record(z.string(), z.unknown()) }),
  answer: z.string(),
})

const runDemo = async (options: CommandOptions, run: typeof runSharedCommand = runSharedCommand) => {
  const { code, stdout, stderr } = await run(['demo', '--json'], options)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return Demo.parse(JSON.parse(stdout))
}

it('the demo works without a running server, and reuses on its second run what the first created', async () => {
  const options = { directory: temporaryDirectory(), env: { PATCHBAY_BASE_URL: 'https://patchbay.example.com' } }
  // Run the demo in a separate process: whatever it starts must not keep the process from exiting.
  const demo = await runDemo(options, runCommand)
  expect(demo.tools).toContain(demo.call.name)
  expect(JSON.parse(demo.answer)).toMatchObject({ from: 'EUR', to: 'JPY', result: expect.any(Number) })
  expect(demo.url).toBe(`https://patchbay.example.com/s/${demo.id}`)
  const { code, stdout } = await runSharedCommand(['demo'], options)
  expect(code).toBe(0)
  for (const text of [demo.url, demo.answer, ...demo.tools]) expect(stdout).toContain(text)
})

it('the demo calls the running server, and the first account takes over what it created', async () => {
  const patchbay = await startPatchbay()
  const demo = await runDemo(patchbay.settings)
  expect(demo.url).toBe(`${patchbay.origin}/s/${demo.id}`)
  const browser = createBrowser(patchbay.origin)
  await browser.signUp('ada@example.com', 'correct horse battery')
  const history = `/servers/${demo.id}/executions`
  await vi.waitFor(async () => {
    const { items } = z.object({ items: z.array(z.looseObject({})) }).parse((await browser.send('GET', history)).json())
    expect(items).toMatchObject([{ tool: demo.call.name, client: expect.stringContaining('patchbay-demo') }])
  }, 10_000)
  expect(demo.access).toBe('public')
  expect(await runDemo(patchbay.settings)).toEqual({ ...demo, access: 'private' })
  expect(await knock(demo.url)).toBe(401)
  expect((await browser.send('GET', '/tokens')).json()).toMatchObject({ items: [] })
  const { stdout } = await runSharedCommand(['demo'], patchbay.settings)
  expect(stdout).toContain(`${demo.url} (private)`)
  expect(stdout).toContain('sign in as ada@example.com')
  expect((await createApiClient(patchbay.origin).send('GET', '/gallery')).status).toBe(401)
  await patchbay.stop()
})

it('an account created on the command line takes over what the demo created, and later ones do not', async () => {
  const options = { directory: temporaryDirectory() }
  const addUser = (email: string) =>
    runSharedCommand(['user', 'create', '--email', email, '--password', 'correct horse battery'], options)
  const demo = await runDemo(options)
  expect(await addUser('ada@example.com')).toMatchObject({ code: 0 })
  expect(await runDemo(options)).toEqual({ ...demo, access: 'private' })
  changeDatabase(options.directory, `UPDATE "Server" SET "access" = 'public'`)
  expect(await addUser('eve@example.com')).toMatchObject({ code: 0 })
  expect(await runDemo(options)).toEqual(demo)
})

it('the demo recognizes another program on the port', async () => {
  const other = await startFakeApi((_request, response) => answerJson(response, { status: 'ok' }))
  onTestFinished(other.close)
  const demo = await runDemo({ env: { PATCHBAY_PORT: new URL(other.origin).port } })
  expect(JSON.parse(demo.answer)).toMatchObject({ to: 'JPY' })
})

it('the demo creates what an interrupted run left out', async () => {
  const options = { directory: temporaryDirectory() }
  const demo = await runDemo(options)
  changeDatabase(options.directory, `DELETE FROM "Instance" WHERE "name" IN ('echo', '${demo.call.name}')`)
  expect(await runDemo(options)).toEqual(demo)
})
