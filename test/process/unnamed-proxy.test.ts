import { expect, it, vi } from 'vitest'
import { signUp } from '../support/api-client.ts'
import { runCommand, startPatchbay } from '../support/process.ts'
import { signInToPages, textOf } from '../support/signed-in.ts'

vi.setConfig({ testTimeout: 60_000 })

const HINT = /through a proxy at 127\.0\.0\.1 that PATCHBAY_TRUST_PROXY does not name/g
const adviceOf = async (origin: string, headers: Record<string, string> = {}): Promise<unknown> =>
  (await fetch(`${origin}/readyz`, { headers })).json()

it.each([
  ['X-Forwarded-For', '203.0.113.7'],
  ['X-Forwarded-Proto', 'https'],
  ['Forwarded', 'for=203.0.113.7'],
  ['Via', '1.1 edge'],
])(
  'a proxy that adds %s and is not named is logged once, and shown to the operator and by doctor',
  async (name, value) => {
    const patchbay = await startPatchbay()
    const { email } = await signUp(patchbay.origin)
    expect(await adviceOf(patchbay.origin)).toEqual({ status: 'ok', advice: [] })
    // The advice is not shown to those who come through a proxy.
    for (let times = 0; times < 3; times++) {
      expect(await adviceOf(patchbay.origin, { [name]: value })).toEqual({ status: 'ok' })
    }
    expect(await adviceOf(patchbay.origin)).toEqual({ status: 'ok', advice: [expect.stringMatching(HINT)] })
    const browser = await signInToPages(patchbay.origin, email)
    expect(textOf((await browser.get('/operator')).html)).toMatch(HINT)
    const doctor = await runCommand(['doctor'], patchbay.settings)
    expect(doctor).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/advice running server: .*PATCHBAY_TRUST_PROXY/),
    })
    await patchbay.stop()
    expect(patchbay.stdout().match(HINT)).toHaveLength(1)
  },
)

it('a proxy that is named is not reported', async () => {
  const patchbay = await startPatchbay({ env: { PATCHBAY_TRUST_PROXY: '127.0.0.0/8' } })
  await adviceOf(patchbay.origin, { 'X-Forwarded-For': '203.0.113.7' })
  expect(await adviceOf(patchbay.origin)).toEqual({ status: 'ok', advice: [] })
  await patchbay.stop()
  expect(patchbay.stdout()).not.toMatch(HINT)
})
