import { execFile, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { freePort } from '../support/free-port.ts'
import { answerAt } from './support/person.ts'
import { type OAuthWorld, startOAuthWorld } from './support/world.ts'

const PROGRAM = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')),
  'dist/index.js',
)

/** All scenarios of an authorization server that the suite has; the rest of its `auth/…` test clients. */
const SCENARIOS = ['authorization-server-metadata-endpoint', 'authorization-code-grant']

const Made = z.object({ clientId: z.string(), clientSecret: z.string().optional() })

/** Whether each scenario passed, as the summary says. */
const resultsIn = (output: string): Record<string, string> =>
  Object.fromEntries([...output.matchAll(/^([✓✗]) ([\w-]+): /gm)].map(([, mark = '', name = '']) => [name, mark]))

describe('the official conformance suite against the authorization server', () => {
  let world: OAuthWorld
  let organizationId: string
  beforeAll(async () => {
    world = await startOAuthWorld()
    const { body } = await world.owner.expectOk('GET', '/me')
    const me = z.object({ organizations: z.array(z.object({ id: z.string() })) }).parse(body)
    organizationId = me.organizations[0]?.id ?? ''
  })
  afterAll(() => world.close())

  /** Runs the suite's scenarios, and sends its user through the pages when it says where. */
  const run = async (specVersion: string, tokenEndpointAuthMethod: string) => {
    const port = await freePort()
    const redirectUris = [`http://127.0.0.1:${port}/callback`]
    const made = await world.owner.expectOk('POST', `/organizations/${organizationId}/oauth-clients`, {
      name: 'Conformance',
      redirectUris,
      tokenEndpointAuthMethod,
    })
    const { clientId, clientSecret } = Made.parse(made.body)
    const args = ['--url', world.origin, '--client-id', clientId, '--resource', world.serverUrl, '-p', String(port)]
    const secret = clientSecret === undefined ? [] : ['--client-secret', clientSecret]
    const child = spawn(process.execPath, [PROGRAM, 'authorization', ...args, ...secret, '--spec-version', specVersion])
    onTestFinished(() => void child.kill())
    let output = ''
    let isSent = false
    const visit = async (authorize: string): Promise<void> => {
      const callback = await answerAt(new URL(authorize), world.owner)
      await fetch(`http://127.0.0.1:${port}/callback?${callback}`)
    }
    child.stderr.on('data', chunk => {
      output += chunk
    })
    child.stdout.on('data', chunk => {
      output += chunk
      const [, authorize] = /^(http\S+\/oauth\/authorize\?\S+)\n/m.exec(output) ?? []
      if (authorize === undefined || isSent) return
      isSent = true
      visit(authorize).catch(error => {
        output += String(error)
        child.kill()
      })
    })
    const code = await new Promise<number | null>(resolve => child.once('close', resolve))
    return { code, output }
  }

  it('has the scenarios that are run here, and no other', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, 'list'])
    const listed = stdout.slice(stdout.indexOf('Authorization server scenarios'))
    expect([...listed.matchAll(/^ {2}- (\S+) /gm)].map(([, name]) => name)).toEqual(SCENARIOS)
  })

  it.each(['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'])('%s passes all', async specVersion => {
    const { code, output } = await run(specVersion, 'none')
    expect(resultsIn(output), output).toEqual({
      'authorization-server-metadata-endpoint': '✓',
      'authorization-code-grant': '✓',
    })
    expect(output).not.toMatch(/warning|skipped/i)
    expect(code, output).toBe(0)
  })

  // Wherever public clients are offered as well, the suite does not send the secret that it is given.
  it('2026-07-28 fails for a client with a secret, which the suite keeps to itself', async () => {
    const { code, output } = await run('2026-07-28', 'client_secret_basic')
    expect(resultsIn(output), output).toEqual({
      'authorization-server-metadata-endpoint': '✓',
      'authorization-code-grant': '✗',
    })
    expect(code).toBe(1)
  })
})
