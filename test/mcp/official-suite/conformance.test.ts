import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeServer } from '../../support/api-client.ts'
import { answerJson } from '../../support/fake-api.ts'
import { during, runFakeApi, runPatchbay, runUser } from '../../support/world.ts'
import { ANSWERS, conformanceTools } from './fixture.ts'
import { runSuite } from './run-suite.ts'

/** Runs all scenarios that a revision requires. Fails if a scenario fails that the baseline does not list. */
const runRequirements = (url: string, revision: string) =>
  runSuite(url, revision, '--expected-failures', join(import.meta.dirname, `not-yet-${revision}.yml`))

const ALWAYS = [
  'tools-list',
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-error',
  'resources-list',
  'prompts-list',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
  'json-schema-2020-12',
]
/** Scenarios that must always pass. Without this list, the run would succeed even if the suite no longer ran them. */
const MUST_PASS: Readonly<Record<string, readonly string[]>> = {
  '2025-11-25': [...ALWAYS, 'server-initialize', 'server-session-lifecycle', 'ping', 'logging-set-level'],
  '2026-07-28': [
    ...ALWAYS,
    'sep-2164-resource-not-found',
    'caching',
    'input-required-result-unsupported-methods',
    'http-header-validation',
    'http-custom-header-server-validation',
  ],
}

describe('the official conformance suite against tools created through the API', () => {
  const patchbay = runPatchbay()
  const fake = runFakeApi(async ({ url: called }, response) => {
    const [path = ''] = called.split('?')
    if (path === '/change') return answerJson(response, await addTool())
    return (ANSWERS[path] ?? (r => answerJson(r, {}, 404)))(response)
  })
  const builder = runUser(patchbay)
  const server = during(() => makeServer(builder, conformanceTools(fake.origin)))
  let added = 0
  const addTool = () => {
    const instance = { toolId: server.toolIds.test_simple_text, name: `tool_of_change_${++added}` }
    return builder.create(`/servers/${server.serverId}/instances`, instance)
  }

  it.each(Object.keys(MUST_PASS))(
    'passes for %s, except for what servers do not have',
    { timeout: 120_000 },
    async revision => {
      const { code, output } = await runRequirements(server.url, revision)
      expect(code, output).toBe(0)
      for (const scenario of MUST_PASS[revision] ?? []) expect(output).toContain(`✓ ${scenario}: `)
    },
  )

  // Two scenarios would pass even without the tool, so this checks that the API was really called.
  it('really called the API behind the tools', () => {
    const called = new Set(fake.seen.map(request => request.url))
    expect([...called].sort()).toEqual(
      expect.arrayContaining(['/audio', '/error', '/image', '/mixed', '/resource', '/text']),
    )
  })
})
