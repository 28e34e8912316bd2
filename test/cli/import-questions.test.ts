import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { createApiClient } from '../support/api-client.ts'
import { compileCache } from '../support/compile-cache.ts'
import { follow, PROGRAM, runSharedCommand, startPatchbay } from '../support/process.ts'
import { makeFiles } from './config-homes.ts'

vi.setConfig({ testTimeout: 90_000 })

/** The program that gives a command a terminal, used with its Linux arguments. */
const TERMINAL = '/usr/bin/script'

const quoted = (text: string): string => `'${text}'`

/** Runs the command in a terminal and answers each question once it appears. */
const talk = async (
  args: readonly string[],
  { directory, env }: { directory: string; env: NodeJS.ProcessEnv },
  answers: readonly (readonly [question: string, keys: string])[],
): Promise<string> => {
  const command = [process.execPath, PROGRAM, ...args].map(quoted).join(' ')
  const child = spawn(TERMINAL, ['-qefc', `stty cols 120 rows 40; ${command}`, '/dev/null'], {
    cwd: directory,
    env: { PATH: process.env.PATH, TERM: 'xterm', ...compileCache(), ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const running = follow(child)
  onTestFinished(async () => {
    running.kill('SIGKILL')
    await running.ended
  })
  for (const [question, keys] of answers) {
    await running.said(question)
    child.stdin.write(keys)
  }
  return (await running.ended).stdout
}

const ENTER = '\r'
const DOWN = '\u001b[B'

it.skipIf(process.platform !== 'linux' || !existsSync(TERMINAL))(
  'at a terminal, import asks for servers, features, a target and values, and hides secrets as they are typed',
  async () => {
    const patchbay = await startPatchbay()
    const email = 'operator@example.com'
    await runSharedCommand(
      ['user', 'create', '--email', email, '--password', 'correct horse battery'],
      patchbay.settings,
    )
    const { stdout } = await runSharedCommand(['token', 'create', '--email', email, '--name', 't'], patchbay.settings)
    const token = stdout.trim()
    const header = (name: string) => ({ headers: { 'X-Api-Key': `\${env:${name}}` } })
    const input = { headers: { 'X-Fourth': `\${input:fourth}` } }
    const inputs = [{ id: 'fourth', description: 'Key\u001b]0;owned\u0007\u202eyek' }]
    const servers = {
      first: { url: 'https://first.example.com/mcp', ...header('GIVEN_KEY') },
      second: { url: 'https://second.example.com/mcp', ...header('TYPED_KEY') },
      // Neither the description nor the input may contain terminal control sequences.
      fourth: { url: 'https://fourth.example.com/mcp', ...input },
      third: { url: 'https://third.example.com/mcp', disabled: true },
    }
    const { home, project } = makeFiles({ 'mcp.json': JSON.stringify({ mcpServers: servers, inputs }) })
    const env = {
      HOME: home,
      PATCHBAY_TOKEN: token,
      PATCHBAY_BASE_URL: patchbay.origin,
      GIVEN_KEY: 'fixture-secret-given',
    }
    const shown = await talk(['import', './mcp.json'], { directory: project, env }, [
      ['Which MCP servers', ENTER],
      ['to pass on', `${DOWN} ${ENTER}`],
      ['Which server', ENTER],
      ['Name of the new server', ENTER],
      ['Use the values of GIVEN_KEY', ENTER],
      ['TYPED_KEY (secret', `fixture-secret-typed${ENTER}`],
      ['Key\ufffd]0;owned\ufffd\ufffdyek (', ENTER],
      [`Attach 3 MCP servers to "My tools" at ${patchbay.origin}`, ENTER],
    ])
    expect(shown).toContain('Attached second')
    expect(shown).not.toContain('fixture-secret')
    const api = createApiClient(patchbay.origin, token)
    const id = /\/s\/([0-9a-f-]{36})/.exec(shown)?.[1] ?? ''
    const { items } = z
      .object({ items: z.array(z.looseObject({ name: z.string() })) })
      .parse((await api.expectOk('GET', `/servers/${id}/upstreams`)).body)
    const features = { tools: true, resources: false, prompts: true }
    expect(items).toMatchObject([
      { name: 'first', features, missingGlobals: [], enabled: true },
      { name: 'second', features, missingGlobals: [], enabled: true },
      { name: 'fourth', missingGlobals: ['fourth'] },
    ])
    expect((await api.expectOk('GET', `/servers/${id}/globals`)).body).toMatchObject({
      items: [{ secret: true }, { secret: true }],
    })
  },
)
