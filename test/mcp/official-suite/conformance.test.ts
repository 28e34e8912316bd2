import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeServer, signUp } from '../../support/api-client.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { answerJson, type FakeApi, startFakeApi } from '../../support/fake-api.ts'
import { ANSWERS, conformanceTools } from './fixture.ts'
import { runScenario } from './suite.ts'

const SHARED = [
  'tools-list',
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-error',
  'json-schema-2020-12',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
]
const SCENARIOS: readonly (readonly [specVersion: string, scenario: string])[] = [
  ...['server-initialize', 'server-session-lifecycle', 'ping', 'logging-set-level', ...SHARED].map(
    scenario => ['2025-11-25', scenario] as const,
  ),
  ...['server-stateless', 'caching', 'http-header-validation', ...SHARED].map(
    scenario => ['2026-07-28', scenario] as const,
  ),
]

/** Not testable yet: no tool here asks its client for anything, so none needs a client capability. */
const UNTESTABLE: Readonly<Record<string, readonly string[]>> = {
  'server-stateless': ['ServerRejectsUndeclaredCapability', 'MissingCapabilityHttp400'],
}

describe('the official conformance suite against tools created through the API', () => {
  let patchbay: TestApp
  let fake: FakeApi
  let url: string
  beforeAll(async () => {
    patchbay = await startTestApp()
    fake = await startFakeApi(({ url: path }, response) => (ANSWERS[path] ?? (r => answerJson(r, {}, 404)))(response))
    const builder = await signUp(patchbay.origin)
    url = (await makeServer(builder, conformanceTools(fake.origin))).url
  })
  afterAll(async () => {
    await patchbay.close()
    await fake.close()
  })

  it.concurrent.each(SCENARIOS)('%s %s passes', { timeout: 60_000 }, async (specVersion, scenario) => {
    const { code, output, failed } = await runScenario(url, specVersion, scenario)
    const untestable = UNTESTABLE[scenario] ?? []
    expect(failed.sort(), output).toEqual([...untestable].sort())
    expect(output).toMatch(/Passed: [1-9]/)
    expect(code, output).toBe(untestable.length === 0 ? 0 : 1)
  })

  // Two scenarios would pass without the tool too, so check that the API was really called.
  it('really called the API behind the tools', () => {
    const called = new Set(fake.seen.map(request => request.url))
    expect([...called].sort()).toEqual(
      expect.arrayContaining(['/audio', '/error', '/image', '/mixed', '/resource', '/text']),
    )
  })
})
