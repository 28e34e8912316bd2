import { beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { askAll, CATALOGUE_NAME, CATALOGUE_SCRIPT, shareFound } from '../../bench/finding/asking.ts'
import { DIRECT, PARAPHRASED } from '../../bench/finding/questions.ts'
import { countTokens } from '../../src/lib/tokens/tokens.ts'
import { signUp } from '../support/api-client.ts'
import { runPatchbay } from '../support/world.ts'
import { connectClient } from '../upstreams/clients.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const Found = z.looseObject({ structuredContent: z.object({ tools: z.array(z.looseObject({ name: z.string() })) }) })
const Listed = z.looseObject({ tools: z.array(z.looseObject({})) })

describe('a thousand real operations of three APIs behind a search', () => {
  const patchbay = runPatchbay({ env: { PATCHBAY_ALLOW_STDIO: 'true' } })
  let url = ''
  beforeAll(async () => {
    const operator = await signUp(patchbay.origin, 'operator@example.com')
    const server = { name: 'APIs', access: 'public', presentation: 'search' }
    const { id: serverId } = await operator.create('/servers', server)
    const upstream = { transport: 'stdio', command: process.execPath, args: [CATALOGUE_SCRIPT] }
    const { id } = await operator.create(`/servers/${serverId}/upstreams`, { name: CATALOGUE_NAME, ...upstream })
    await operator.expectOk('POST', `/upstreams/${id}/refresh`)
    url = `${patchbay.origin}/s/${serverId}`
  })

  it('cost at most a thousand tokens initially', async () => {
    const client = await connectClient('sdk 1', url)
    const { tools } = Listed.parse(await client.request('tools/list'))
    expect(await countTokens(JSON.stringify(tools))).toBeLessThanOrEqual(1_000)
  })

  it.each(['sdk 1', 'sdk 2 stateless'] as const)('are found by questions in people’s words (%s)', async kind => {
    const client = await connectClient(kind, url)
    const find = async (query: string): Promise<string[]> => {
      const answer = await client.callTool('find_tools', { queries: [query] })
      return Found.parse(answer).structuredContent.tools.map(({ name }) => name)
    }
    expect(shareFound(await askAll(DIRECT, find))).toBeGreaterThanOrEqual(0.95)
    expect(shareFound(await askAll(PARAPHRASED, find))).toBeGreaterThanOrEqual(0.6)
  })
})
