import Sqlite from 'better-sqlite3'
import { expect, it, vi } from 'vitest'
import { z } from 'zod'
import { createApiClient } from '../support/api-client.ts'
import { createBrowser } from '../support/browser.ts'
import { answerJson, startFakeApi } from '../support/fake-api.ts'
import { type CommandOptions, runCommand, startPatchbay, temporaryDirectory } from '../support/process.ts'

vi.setConfig({ testTimeout: 60_000 })

const Demo = z.object({
  id: z.uuid(),
  url: z.url(),
  tools: z.array(z.string()),
  call: z.object({ name: z.string(), arguments: z.record(z.string(), z.unknown()) }),
  answer: z.string(),
})

const runDemo = async (options: CommandOptions) => {
  const { code, stdout, stderr } = await runCommand(['demo', '--json'], options)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return Demo.parse(JSON.parse(stdout))
}

it.concurrent('the demo works with no server running, and the second time finds what the first made', async () => {
  const options = { directory: temporaryDirectory(), env: { PATCHBAY_BASE_URL: 'https://patchbay.example.com' } }
  const demo = await runDemo(options)
  expect(demo.tools).toContain(demo.call.name)
  expect(JSON.parse(demo.answer)).toMatchObject({ from: 'EUR', to: 'JPY', result: expect.any(Number) })
  expect(demo.url).toBe(`https://patchbay.example.com/s/${demo.id}`)
  const { code, stdout } = await runCommand(['demo'], options)
  expect(code).toBe(0)
  for (const text of [demo.url, demo.answer, ...demo.tools]) expect(stdout).toContain(text)
})

it.concurrent('the demo calls the server that is running, and what it made becomes the first account’s', async () => {
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
  expect(await runDemo(patchbay.settings)).toEqual(demo)
  expect((await createApiClient(patchbay.origin).send('GET', '/gallery')).status).toBe(401)
  await patchbay.stop()
})

it.concurrent('the demo is not taken in by another program on the port', async ({ onTestFinished }) => {
  const other = await startFakeApi((_request, response) => answerJson(response, { status: 'ok' }))
  onTestFinished(other.close)
  const demo = await runDemo({ env: { PATCHBAY_PORT: new URL(other.origin).port } })
  expect(JSON.parse(demo.answer)).toMatchObject({ to: 'JPY' })
})

it.concurrent('the demo makes what a run that was cut short left out', async () => {
  const options = { directory: temporaryDirectory() }
  const demo = await runDemo(options)
  const db = new Sqlite(`${options.directory}/data/patchbay.db`)
  db.exec(`DELETE FROM "Instance" WHERE "name" IN ('echo', '${demo.call.name}')`)
  db.close()
  expect(await runDemo(options)).toEqual(demo)
})
