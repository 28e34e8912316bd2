import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startConformanceServer } from './conformance/server.ts'
import type { TestApp } from './support.ts'

const { resolve: locate } = createRequire(import.meta.url)
const PROGRAM = join(dirname(locate('@modelcontextprotocol/conformance/package.json')), 'dist/index.js')

type Run = { code: number | null; output: string }

const runRequirements = (url: string, revision: string): Promise<Run> =>
  new Promise((resolve, reject) => {
    const baseline = join(import.meta.dirname, `conformance/not-yet-${revision}.yml`)
    const args = [PROGRAM, 'server', '--url', url, '--requirements', revision, '--expected-failures', baseline]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    child.stdout.on('data', chunk => {
      output += chunk
    })
    child.stderr.on('data', chunk => {
      output += chunk
    })
    child.once('error', reject)
    child.once('close', code => resolve({ code, output }))
  })

/** Must pass in any case: without this list the run would succeed if the suite stopped running them. */
const MUST_PASS: Readonly<Record<string, readonly string[]>> = {
  '2025-11-25': [
    'server-initialize',
    'ping',
    'logging-set-level',
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
    'server-session-lifecycle',
    'dns-rebinding-protection',
    'json-schema-2020-12',
  ],
  '2026-07-28': [
    'tools-list',
    'tools-call-simple-text',
    'tools-call-image',
    'tools-call-audio',
    'tools-call-embedded-resource',
    'tools-call-mixed-content',
    'tools-call-error',
    'resources-list',
    'prompts-list',
    'sep-2164-resource-not-found',
    'server-sse-multiple-streams',
    'dns-rebinding-protection',
    'caching',
    'input-required-result-unsupported-methods',
    'json-schema-2020-12',
    'http-header-validation',
    'http-custom-header-server-validation',
  ],
}

describe('the official conformance suite', () => {
  let app: TestApp
  let url: string
  beforeAll(async () => {
    const server = await startConformanceServer()
    app = server.app
    url = server.url
  })
  afterAll(() => app.close())

  it.each(Object.keys(MUST_PASS))(
    'passes for %s, except for what is not implemented yet',
    async revision => {
      const { code, output } = await runRequirements(url, revision)
      expect(code, output).toBe(0)
      for (const scenario of MUST_PASS[revision] ?? []) expect(output).toContain(`✓ ${scenario}: `)
    },
    120_000,
  )
})
