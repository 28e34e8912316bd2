import { expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { createApiClient, makeServer } from '../support/api-client.ts'
import { createBrowser } from '../support/browser.ts'
import { answerJson, startFakeApi } from '../support/fake-api.ts'
import { startPatchbay } from '../support/process.ts'
import { callTool } from './calls.ts'

vi.setConfig({ testTimeout: 60_000 })

const PASSWORD = 'canary-password-1f6a'
const SECRET = 'canary/secret+value=9c2e'
const STRAY = 'canary-stray-77d0'
const METRICS_TOKEN = 'canary-metrics-token-9f3c01aa-5d71'
const Token = z.object({ token: z.string() })
const Session = z.object({ csrfToken: z.string() })

it('the log contains no password, token, cookie, CSRF token or secret at any level, even after errors', async () => {
  const patchbay = await startPatchbay({
    env: {
      PATCHBAY_HOST: '0.0.0.0',
      PATCHBAY_SHUTDOWN_DELAY_MS: '0',
      PATCHBAY_LOG_LEVEL: 'trace',
      PATCHBAY_METRICS_TOKEN: METRICS_TOKEN,
    },
  })
  const { origin } = patchbay
  const api = await startFakeApi(({ url, headers }, response) => {
    if (url.startsWith('/cut')) response.socket?.destroy()
    else answerJson(response, { url, headers }, url.startsWith('/fail') ? 500 : 200)
  })
  onTestFinished(api.close)
  const setupToken = /setup token "(\w+)"/.exec(patchbay.stdout())?.[1] ?? ''

  const browser = createBrowser(origin)
  const statuses = [
    (await browser.signUp('ada@example.com', PASSWORD, STRAY)).status,
    (await browser.signUp('ada@example.com', PASSWORD, setupToken)).status,
    (await browser.signIn('ada@example.com', STRAY)).status,
    (await browser.signIn('ada@example.com', PASSWORD)).status,
    (await browser.send('POST', '/tokens', { name: 'no CSRF token' })).status,
  ]
  expect(statuses).toEqual([403, 201, 401, 200, 403])
  await browser.loadCsrfToken()
  const { csrfToken } = Session.parse((await browser.send('GET', '/session')).json())
  const cookies = [...browser.cookies.values()]
  expect(cookies.length).toBeGreaterThan(0)
  const { token } = Token.parse((await browser.send('POST', '/tokens', { name: 'mine' })).json())
  const builder = createApiClient(origin, token)

  const tool = (name: string, url: string) => ({
    name,
    method: 'POST',
    url,
    headers: [
      { name: 'authorization', value: 'Bearer {{key}}' },
      { name: 'content-type', value: 'application/json' },
    ],
    body: '{"key":{{key}},"text":"{{text}}"}',
    timeoutMs: 5_000,
  })
  const tools = [
    tool('echo', `${api.origin}/echo/{{key}}?key={{key}}`),
    tool('fail', `${api.origin}/fail?key={{key}}`),
    tool('cut', `${api.origin}/cut?key={{key}}`),
    tool('refused', 'http://127.0.0.1:1/{{key}}'),
    tool('blocked', 'http://10.0.0.1/{{key}}'),
  ]
  const bindings = Object.fromEntries(tools.map(({ name }) => [name, { key: { source: 'server', value: 'key' } }]))
  const { url, serverId, toolIds } = await makeServer(builder, tools, { server: { access: 'private' }, bindings })
  await builder.expectOk('PUT', `/servers/${serverId}/globals/key`, { value: SECRET, secret: true })
  const headers = { authorization: `Bearer ${token}` }
  for (const { name } of tools) {
    const { status, text } = await callTool(url, name, { text: STRAY }, headers)
    expect({ status, text: text.includes(SECRET) }).toEqual({ status: 200, text: false })
    await callTool(url, name, { text: STRAY, [STRAY]: 1 }, headers)
    await builder.expectOk('POST', `/tools/${toolIds[name]}/test`, { arguments: { text: STRAY }, serverId })
  }

  expect((await createApiClient(origin, `pbk_${STRAY}`).send('GET', '/me')).status).toBe(401)
  expect((await callTool(url, 'echo', {}, { authorization: `Bearer pbk_${STRAY}` })).status).toBe(401)
  expect((await builder.send('PUT', `/servers/${serverId}/globals/key`, { value: [STRAY] })).status).toBe(400)
  expect((await builder.send('POST', '/signup', { email: STRAY, password: STRAY })).status).toBe(400)
  expect((await builder.send('GET', `/nothing/${STRAY}?token=${STRAY}`)).status).toBe(404)
  for (const [shown, status] of [
    [METRICS_TOKEN, 200],
    [STRAY, 401],
  ] as const) {
    expect((await fetch(`${origin}/metrics`, { headers: { authorization: `Bearer ${shown}` } })).status).toBe(status)
  }
  expect((await browser.send('DELETE', '/session')).status).toBe(204)

  const { stdout, stderr } = await patchbay.stop()
  expect(stderr).toBe('')
  const announcement = `/sign-up, with the setup token "${setupToken}".`
  expect(stdout).toContain(announcement)
  const log = stdout.replace(announcement, '')
  // Makes sure that the log has content: the API writes one line per response.
  expect(log.split('\n').length).toBeGreaterThan(30)
  const canaries = [PASSWORD, SECRET, STRAY, setupToken, csrfToken, token, METRICS_TOKEN, ...cookies]
  const forms = canaries.flatMap(text => [text, encodeURIComponent(text), Buffer.from(text).toString('base64')])
  expect(forms.filter(form => log.includes(form))).toEqual([])
})
