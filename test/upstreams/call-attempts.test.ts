import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { databasesOfRun } from '../support/databases.ts'
import { answerJson } from '../support/fake-api.ts'
import { runFakeApi } from '../support/world.ts'
import { runAttached } from './attached.ts'

const Message = z.object({ id: z.union([z.string(), z.number()]).optional(), method: z.string() })
const Attempt = z.object({ status: z.int().nullable(), failure: z.string().nullable() })
const Call = z.object({
  durationMs: z.number(),
  timing: z.record(z.string(), z.number().nullable()),
  attempts: z.array(Attempt).nullable(),
})
const History = z.object({ items: z.array(Call) })

describe.each(databasesOfRun)('a call of a tool of an attached MCP server, on $kind', kind => {
  const world = runAttached({ kind })
  let session = 1
  let calls = 0
  /** How many calls find that their session has ended. */
  let endings = 0
  const fake = runFakeApi(({ method, body, headers }, response) => {
    if (method !== 'POST') return void response.writeHead(405).end()
    const { id, method: asked } = Message.parse(JSON.parse(body))
    const answer = (result: object): void => {
      response.setHeader('mcp-session-id', String(session))
      answerJson(response, { jsonrpc: '2.0', id, result })
    }
    if (id === undefined) return void response.writeHead(202).end()
    if (asked === 'initialize') {
      const serverInfo = { name: 'forgetful', version: '1' }
      return answer({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo })
    }
    if (asked === 'tools/list') return answer({ tools: [{ name: 'work', inputSchema: { type: 'object' } }] })
    if (asked !== 'tools/call')
      return answerJson(response, { jsonrpc: '2.0', id, error: { code: -32_601, message: '' } })
    calls++
    if (endings > 0) {
      endings--
      session++
    }
    if (headers['mcp-session-id'] !== String(session)) return answerJson(response, {}, 404)
    answer({ content: [{ type: 'text', text: 'done' }] })
  })

  const make = async () => {
    const { serverId } = await world.makeServer({ up: { transport: 'http', url: `${fake.origin}/mcp` } })
    const client = await world.connect('sdk 2', serverId)
    return {
      call: () => client.callTool('up_work'),
      newest: async () => {
        await world.patchbay.services.recorder.flush()
        const { body } = await world.operator.expectOk('GET', `/servers/${serverId}/executions`)
        return History.parse(body).items[0]
      },
    }
  }

  it('has the time until its result arrived, which is no longer than the call', async () => {
    const { call, newest } = await make()
    await call()
    const recorded = await newest()
    expect(recorded?.timing).toMatchObject({
      resolveMs: expect.any(Number),
      firstByteMs: expect.any(Number),
      shapeMs: expect.any(Number),
    })
    const sum = Object.values(recorded?.timing ?? {}).reduce<number>((total, ms) => total + (ms ?? 0), 0)
    // Each is rounded to a microsecond.
    expect(sum).toBeLessThanOrEqual((recorded?.durationMs ?? 0) + 0.01)
    expect(recorded?.attempts).toBeNull()
  })

  it('shows that it was repeated because the session had ended', async () => {
    const { call, newest } = await make()
    endings = 1
    await call()
    expect((await newest())?.attempts).toEqual([
      { status: null, failure: 'the session had ended' },
      { status: 200, failure: null },
    ])
  })

  it('is repeated once, however often the session ends', async () => {
    const { call, newest } = await make()
    const before = calls
    endings = 10
    await call()
    endings = 0
    expect(calls - before).toBe(2)
    expect((await newest())?.attempts).toEqual([
      { status: null, failure: 'the session had ended' },
      { status: 404, failure: null },
    ])
  })
})
