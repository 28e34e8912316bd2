import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type ApiClient, makeServer } from '../support/api-client.ts'
import { startFakeNameServer } from '../support/fake-name-server.ts'
import { during, runFakeApi, runPatchbay, runUser } from '../support/world.ts'

const Result = z.object({ content: z.array(z.object({ text: z.string() })), isError: z.boolean().optional() })

const nameServer = await startFakeNameServer({
  'good.example': { a: ['127.0.0.1'] },
  'slow.example': { a: 'silent', aaaa: 'silent' },
  'slower.example': { a: 'silent', aaaa: 'silent' },
  'private.example': { a: ['10.0.0.1'] },
})

describe('the name in the URL of a tool', () => {
  during(() => nameServer)
  const patchbay = runPatchbay({
    services: { names: { servers: [nameServer.address], usesSystem: false, deadlineMs: 3_000 } },
  })
  const fake = runFakeApi()
  const builder = runUser(patchbay)
  const other = runUser(patchbay)

  /** Returns a function that calls a tool at this host. */
  const makeTool = async (api: ApiClient, host: string) => {
    const url = fake.origin.replace('127.0.0.1', host)
    const { instanceIds } = await makeServer(api, [{ name: 'tool', method: 'GET', url }])
    return async () => {
      const { body } = await api.expectOk('POST', `/instances/${instanceIds.tool}/call`, { arguments: {} })
      const { content, isError = false } = Result.parse(body)
      return { text: content[0]?.text, isError }
    }
  }

  it('is resolved while the name servers of another tenant do not answer', async () => {
    const slow = [await makeTool(builder, 'slow.example'), await makeTool(builder, 'slower.example')]
    const good = await makeTool(other, 'good.example')
    let ended = 0
    const results = slow.map(call => call().finally(() => ended++))
    await expect.poll(() => nameServer.asked).toEqual(expect.arrayContaining(['a slow.example', 'a slower.example']))
    expect(await good()).toMatchObject({ isError: false })
    expect(ended).toBe(0)
    expect(await Promise.all(results)).toEqual(
      ['slow.example', 'slower.example'].map(host => ({
        text: expect.stringContaining(`the name servers for ${host} did not answer within 3 s`),
        isError: true,
      })),
    )
  })

  it('is named in the error if it does not exist', async () => {
    const { text, isError } = await (await makeTool(builder, 'nowhere.example'))()
    expect([isError, text]).toEqual([true, expect.stringContaining('nowhere.example does not exist')])
  })

  it('may not lead into a private network, whichever resolver was asked', async () => {
    const { text, isError } = await (await makeTool(builder, 'private.example'))()
    expect([isError, text]).toEqual([true, expect.stringContaining('resolves to an address that is not public')])
  })
})
