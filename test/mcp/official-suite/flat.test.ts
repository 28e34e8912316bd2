import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { casesOfRun } from '../../support/cases-of-run.ts'
import { during, runPatchbay, runUser } from '../../support/world.ts'
import { startReferenceServer } from './reference-server.ts'
import { REVISIONS, runSuite } from './run-suite.ts'

const Checks = z.array(
  z.object({ id: z.string(), name: z.string(), status: z.string(), errorMessage: z.string().optional() }),
)

/**
 * Checks of event streams that the suite makes only if a server responds with one. Patchbay responds with JSON unless
 * messages precede the response.
 */
const STREAM_CHECKS: ReadonlySet<string> = new Set([
  'server-sse-streams-functional',
  'server-sse-priming-event',
  'server-sse-retry-field',
  'server-sse-disconnect-resume',
])

/** How many checks the reference server passes directly, without those of event streams. */
const MIN_PASSED = { '2025-11-25': 80, '2026-07-28': 164 }

/** Reads the results of a run: the checks that passed, and the others with the reason. */
const readResults = (folder: string) => {
  const passed: string[] = []
  const failed = new Map<string, string>()
  for (const name of readdirSync(folder)) {
    const scenario = name.replace(/^server-/, '').replace(/-\d{4}-\d{2}-\d{2}T[\d-]+Z$/, '')
    for (const check of Checks.parse(JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8')))) {
      if (STREAM_CHECKS.has(check.id)) continue
      const key = `${scenario}: ${check.id} ${check.name}`
      if (check.status === 'SUCCESS') passed.push(key)
      else if (check.status !== 'INFO') failed.set(key, `${check.status}: ${check.errorMessage}`)
    }
  }
  return { passed, failed }
}

const runChecks = async (url: string, revision: string) => {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-conformance-'))
  try {
    await runSuite(url, revision, '--output-dir', folder)
    return readResults(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe('the official conformance suite against a flat server with the reference server attached', () => {
  const patchbay = runPatchbay()
  const direct = during(() => startReferenceServer({ test: 'test_', json: 'json_' }))
  // Another one, because the lists change when the suite runs. The names of upstreams complete those of its tools.
  const attached = during(() => startReferenceServer({ test: '', json: '' }))
  const owner = runUser(patchbay)
  const flat = during(async () => {
    const { id } = await owner.create('/servers', { name: 'Flat', access: 'public', maxResponseTokens: 0 })
    const at = { transport: 'http', url: attached.url }
    const others = { resources: false, prompts: false }
    for (const upstream of [
      { name: 'test', ...at, deny: ['schema_*'] },
      { name: 'json', ...at, allow: ['schema_*'], features: others },
    ]) {
      const { id: upstreamId } = await owner.create(`/servers/${id}/upstreams`, upstream)
      await owner.expectOk('POST', `/upstreams/${upstreamId}/refresh`)
    }
    return { url: `${patchbay.origin}/s/${id}` }
  })

  const revisions = casesOfRun(REVISIONS, (_, index) => index === 0)

  it.each(revisions)('passes for %s whatever passes directly', { timeout: 120_000 }, async revision => {
    const expected = runChecks(direct.url, revision)
    const compare = async (): Promise<readonly string[]> => {
      const [{ passed }, actual] = await Promise.all([expected, runChecks(flat.url, revision)])
      expect(passed.length).toBeGreaterThanOrEqual(MIN_PASSED[revision])
      const lost = passed.filter(check => !actual.passed.includes(check))
      // Some checks run several times under one name.
      if (lost.length === 0) expect(actual.passed.length).toBeGreaterThanOrEqual(passed.length)
      return lost.map(check => `${check}: ${actual.failed.get(check) ?? 'not run'}`)
    }
    const lost = await compare()
    // The suite waits for a changed list for only 1.5 s, which a busy machine may exceed once.
    const isRepeated = lost.length > 0 && lost.every(check => check.includes('list-changed'))
    expect(isRepeated ? await compare() : lost).toEqual([])
  })
})
