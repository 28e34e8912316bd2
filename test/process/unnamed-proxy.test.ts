import { createServer } from 'node:http'
import { expect, it, onTestFinished, vi } from 'vitest'
import { watchForUnnamedProxies } from '../../src/lib/http/unnamed-proxy.ts'
import { createNotices } from '../../src/lib/process/notices.ts'
import { signUp } from '../support/api-client.ts'
import { startTestApp } from '../support/app.ts'
import { runCommand, startPatchbay } from '../support/process.ts'
import { signInToPages, textOf } from '../support/signed-in.ts'

vi.setConfig({ testTimeout: 60_000 })

const HINT = /through a proxy at 127\.0\.0\.1 that PATCHBAY_TRUST_PROXY does not name/g
const adviceOf = async (origin: string, headers: Record<string, string> = {}): Promise<unknown> =>
  (await fetch(`${origin}/readyz`, { headers })).json()

it('a proxy that is not named is logged once, and shown to the operator and by doctor', async () => {
  const patchbay = await startPatchbay()
  const { email } = await signUp(patchbay.origin)
  for (let times = 0; times < 3; times++) await adviceOf(patchbay.origin, { 'X-Forwarded-For': '203.0.113.7' })
  const browser = await signInToPages(patchbay.origin, email)
  expect(textOf((await browser.get('/operator')).html)).toMatch(HINT)
  const doctor = await runCommand(['doctor'], patchbay.settings)
  expect(doctor).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/suggestion:\n- running server: .*PATCHBAY_TRUST_PROXY/),
  })
  await patchbay.stop()
  expect(patchbay.stdout().match(HINT)).toHaveLength(1)
})

it.each([
  ['X-Forwarded-For', '203.0.113.7'],
  ['X-Forwarded-Proto', 'https'],
  ['Forwarded', 'for=203.0.113.7'],
  ['Via', '1.1 edge'],
  // As products send it, without any of the standard headers.
  ['X-Real-IP', '203.0.113.7'],
  ['CF-Connecting-IP', '203.0.113.7'],
])('a proxy that adds %s is noticed; its own clients are not shown the advice', async (name, value) => {
  const { origin, close } = await startTestApp()
  onTestFinished(close)
  expect(await adviceOf(origin)).toEqual({ status: 'ok', advice: [] })
  expect(await adviceOf(origin, { [name]: value })).toEqual({ status: 'ok' })
  expect(await adviceOf(origin)).toEqual({ status: 'ok', advice: [expect.stringMatching(HINT)] })
})

it('the advice says how often and when last, and ends a day after the last request', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2030, 0, 1, 12) })
  onTestFinished(() => void vi.useRealTimers())
  const { origin, close } = await startTestApp()
  onTestFinished(close)
  const through = (name: string) => adviceOf(origin, { [name]: '203.0.113.7' })
  await through('X-Forwarded-For')
  await through('X-Forwarded-For')
  vi.setSystemTime(Date.UTC(2030, 0, 1, 20))
  await through('X-Real-IP')
  const found = expect.stringMatching(/seen 3 times, last at 2030-01-01T20:00:00\.000Z, by the header x-real-ip/)
  expect(await adviceOf(origin)).toMatchObject({ advice: [found] })
  vi.setSystemTime(Date.UTC(2030, 0, 2, 19))
  expect(await adviceOf(origin)).toMatchObject({ advice: [found] })
  vi.setSystemTime(Date.UTC(2030, 0, 2, 21))
  expect(await adviceOf(origin)).toMatchObject({ advice: [] })
  await through('Via')
  expect(await adviceOf(origin)).toMatchObject({ advice: [expect.stringContaining('seen once, last at')] })
})

it('the advice names the address with the most requests, whatever others send', () => {
  const ignore = () => undefined
  const notices = createNotices({ warn: ignore, error: ignore, info: ignore })
  const server = createServer()
  watchForUnnamedProxies(server, [], notices)
  const send = (remoteAddress: string) =>
    server.emit('request', { headers: { via: '1.1 x' }, socket: { remoteAddress } })
  for (const address of ['198.51.100.9', '192.0.2.1', '192.0.2.1', '198.51.100.9', '192.0.2.1']) send(address)
  for (const address of ['198.51.100.7', '198.51.100.8']) send(address)
  const named = expect.stringMatching(/through a proxy at 192\.0\.2\.1 .*seen 3 times/)
  expect(notices.list('advice')).toMatchObject([{ message: named }])
})

it('a proxy that is named is not reported', async () => {
  const { origin, close } = await startTestApp({ env: { PATCHBAY_TRUST_PROXY: '127.0.0.0/8' } })
  onTestFinished(close)
  await adviceOf(origin, { 'X-Forwarded-For': '203.0.113.7' })
  expect(await adviceOf(origin)).toEqual({ status: 'ok', advice: [] })
})
