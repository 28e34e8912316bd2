import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { during, runPatchbay, runUser } from '../../support/world.ts'
import { startReferenceServer } from './reference-server.ts'
import { REVISIONS, runSuite } from './run-suite.ts'

const Checks = z.array(
  z.object({ id: z.string(), name: z.string(), status: z.string(), errorMessage: z.string().optional() }),
)

/**
 * Scenarios about how a server uses its own transport, which Patchbay decides by itself: it responds with JSON unless
 * messages precede the response, so there is no stream that a tool could close.
 */
const OWN_TRANSPORT: ReadonlySet<string> = new Set(['server-sse-polling'])

/** Reads the results of a run: the checks that passed, and the others with the reason. */
const readResults = (folder: string) => {
  const passed: string[] = []
  const failed = new Map<string, string>()
  for (const name of readdirSync(folder)) {
    const scenario = name.replace(/^server-/, '').replace(/-\d{4}-\d{2}-\d{2}T[\d-]+Z$/, '')
    for (const check of Checks.parse(JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8')))) {
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

const isOfOwnTransport = (check: string): boolean => OWN_TRANSPORT.has(check.split(':')[0] ?? '')

describe('the official conformance suite against a flat server with the reference server attached', () => {
  const patchbay = runPatchbay()
  const direct = during(startReferenceServer)
  // Another one, because its lists change when the suite runs.
  const attached = during(startReferenceServer)
  const owner = runUser(patchbay)
  const flat = during(async () => {
    const { id } = await owner.create('/servers', { name: 'Flat', access: 'public', maxResponseTokens: 0 })
    const upstream = { name: 'reference', transport: 'http', url: attached.url, prefix: '' }
    const { id: upstreamId } = await owner.create(`/servers/${id}/upstreams`, upstream)
    await owner.expectOk('POST', `/upstreams/${upstreamId}/refresh`)
    return { url: `${patchbay.origin}/s/${id}` }
  })

  it.each(REVISIONS)('passes for %s whatever passes directly', { timeout: 120_000 }, async revision => {
    const [expected, actual] = await Promise.all([runChecks(direct.url, revision), runChecks(flat.url, revision)])
    const required = expected.passed.filter(check => !isOfOwnTransport(check))
    const lost = required.filter(check => !actual.passed.includes(check))
    expect(lost.map(check => `${check}: ${actual.failed.get(check) ?? 'not run'}`)).toEqual([])
    // Some checks run several times under one name.
    expect(actual.passed.length).toBeGreaterThanOrEqual(required.length)
    expect(required.length).toBeGreaterThan(70)
  })
})
