import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { makeServer, signUp } from '../../support/api-client.ts'
import { runFakeApi, runPatchbay } from '../../support/world.ts'

const PACKAGE = createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json')
const PROGRAM = join(dirname(PACKAGE), 'clients/launcher/build/index.js')

describe('the official inspector at the command line', { timeout: 60_000 }, () => {
  let url: string
  const patchbay = runPatchbay()
  const fake = runFakeApi()
  beforeAll(async () => {
    const builder = await signUp(patchbay.origin)
    const tool = { name: 'get_user', method: 'GET', url: `${fake.origin}/users/{{id}}` }
    url = (await makeServer(builder, [tool])).url
  })

  const inspect = async (...args: string[]): Promise<unknown> => {
    const all = [PROGRAM, '--cli', url, '--transport', 'http', ...args]
    const { stdout } = await promisify(execFile)(process.execPath, all)
    return JSON.parse(stdout)
  }

  it('lists the tools', async () => {
    expect(await inspect('--method', 'tools/list')).toMatchObject({ tools: [{ name: 'get_user' }] })
  })

  it('calls a tool and shows the API’s response', async () => {
    const args = ['--method', 'tools/call', '--tool-name', 'get_user', '--tool-arg', 'id=42']
    const result = z.object({ content: z.array(z.object({ text: z.string() })) }).parse(await inspect(...args))
    expect(result.content[0]?.text).toContain('/users/42')
  })
})
