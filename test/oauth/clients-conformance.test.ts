import { execFile, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { freePort } from '../support/free-port.ts'
import { answerAt } from './support/person.ts'
import { runOAuthWorld } from './support/world.ts'

const PROGRAM = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')),
  'dist/index.js',
)

/** All authorization server scenarios of the suite. Its other `auth/…` scenarios test clients. */
const SCENARIOS = ['authorization-server-metadata-endpoint', 'authorization-code-grant']

const Made = z.object({ clientId: z.string(), clientSecret: z.string().optional() })

/** Parses the result of each scenario from the summary. */
const resultsIn = (output: string): Record<string, string> =>
  Object.fromEntries([...output.matchAll(/^([✓✗]) ([\w-]+): /gm)].map(([, mark = '', name = '']) => [name, mark]))

describe('the official conformance suite against the authorization server', () => {
  let organizationId: string
  const world = runOAuthWorld()
  beforeAll(async () => {
    const { body } = await world.owner.expectOk('GET', '/me')
    const me = z.object({ organizations: z.array(z.object({ id: z.string() })) }).parse(body)
    organizationId = me.organizations[0]?.id ?? ''
  })

  /** Runs the suite's scenarios and acts as the user on the pages that it opens. */
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

  it('has exactly the scenarios that are run here', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, 'list'])
    const listed = stdout.slice(stdout.indexOf('Authorization server scenarios'))
    expect([...listed.matchAll(/^ {2}- (\S+) /gm)].map(([, name]) => name)).toEqual(SCENARIOS)
  })

  it.each(['2025-03-26', '2026-07-28'])('passes all scenarios for %s', async specVersion => {
    const { code, output } = await run(specVersion, 'none')
    expect(resultsIn(output), output).toEqual({
      'authorization-server-metadata-endpoint': '✓',
      'authorization-code-grant': '✓',
    })
    expect(output).not.toMatch(/warning|skipped/i)
    expect(code, output).toBe(0)
  })

  // If public clients are supported as well, the suite does not send the secret that it received.
  it('fails a client with a secret for 2026-07-28, because the suite does not send the secret', async () => {
    const { code, output } = await run('2026-07-28', 'client_secret_basic')
    expect(resultsIn(output), output).toEqual({
      'authorization-server-metadata-endpoint': '✓',
      'authorization-code-grant': '✗',
    })
    expect(code).toBe(1)
  })
})
