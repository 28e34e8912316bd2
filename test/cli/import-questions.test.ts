import { expect, it, vi } from 'vitest'
import { z } from 'zod'
import { createApiClient } from '../support/api-client.ts'
import { runSharedCommand, startPatchbay } from '../support/process.ts'
import { makeFiles } from './config-homes.ts'
import { DOWN, ENTER, hasTerminal, talk } from './terminal.ts'

vi.setConfig({ testTimeout: 90_000 })

it.skipIf(!hasTerminal)(
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
