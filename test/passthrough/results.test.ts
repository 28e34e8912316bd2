import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { signUp } from '../support/api-client.ts'
import { databasesOfRun } from '../support/databases.ts'
import { freePort } from '../support/free-port.ts'
import { during, runPatchbay } from '../support/world.ts'
import { passTo, startUpstream, until } from './support.ts'

const History = z.object({
  items: z.tuple([z.object({ outcome: z.string(), result: z.string(), status: z.int().nullable() })]),
})

const Timed = z.object({
  items: z.tuple([
    z.object({
      timing: z.record(z.string(), z.number().nullable()),
      attempts: z.array(z.object({ status: z.int().nullable(), failure: z.string().nullable() })).nullable(),
    }),
  ]),
})

describe.each(databasesOfRun)('the result of a passthrough request, on $kind', kind => {
  const patchbay = runPatchbay({ kind })
  const owner = during(() => signUp(patchbay.origin))

  /** Returns the record of a request to a passthrough server for this URL. */
  const recordOf = async (url: string, upstream: object = {}) => {
    const server = await passTo(owner, url, { upstream })
    const response = await fetch(server.url, { method: 'POST', body: '{}' })
    await response.text()
    return until(async () => {
      const { body } = await owner.expectOk('GET', `/servers/${server.id}/executions`)
      return History.parse(body).items[0]
    })
  }

  it.each([
    [200, { outcome: 'ok', result: 'success', status: 200 }],
    [404, { outcome: 'error', result: 'rejected', status: 404 }],
    [503, { outcome: 'error', result: 'failed', status: 503 }],
    // The configured credentials do not work.
    [401, { outcome: 'error', result: 'failed', status: 401 }],
  ])('follows from the status %i', async (status, record) => {
    const { port } = await startUpstream(response => void response.writeHead(status).end('done'))
    expect(await recordOf(`http://127.0.0.1:${port}/mcp`)).toEqual(record)
  })

  it('comes with the time of each phase, and with the addresses that were tried', async () => {
    const { port } = await startUpstream(response => void response.end('done'))
    const url = `http://127.0.0.1:${port}/mcp`
    const timedOf = async (id: string) =>
      until(async () => {
        const { body } = await owner.expectOk('GET', `/servers/${id}/executions`)
        return Timed.parse(body).items[0]
      })
    const one = await passTo(owner, url)
    await (await fetch(one.url, { method: 'POST', body: '{}' })).text()
    const { timing, attempts } = await timedOf(one.id)
    const phases = Object.entries(timing).flatMap(([phase, ms]) => (ms === null ? [] : [phase]))
    expect(phases).toEqual(expect.arrayContaining(['resolveMs', 'connectMs', 'firstByteMs', 'bodyMs']))
    expect(phases).not.toContain('shapeMs')
    expect(attempts).toBeNull()

    const gone = `http://127.0.0.1:${await freePort()}/mcp`
    const several = await passTo(owner, gone, { upstream: { urls: [url] } })
    await (await fetch(several.url, { method: 'POST', body: '{}' })).text()
    expect((await timedOf(several.id)).attempts).toEqual([
      { status: null, failure: 'the connection was refused' },
      { status: 200, failure: null },
    ])
  })

  it('is a timeout if the MCP server does not start to respond', async () => {
    const { port } = await startUpstream(() => {})
    const record = await recordOf(`http://127.0.0.1:${port}/mcp`, { timeoutMs: 200 })
    expect(record).toEqual({ outcome: 'error', result: 'timeout', status: null })
  })

  it('is blocked for a private address', async () => {
    expect(await recordOf('http://10.0.0.1/mcp')).toEqual({ outcome: 'error', result: 'blocked', status: null })
  })

  it('is failed if the MCP server refuses the connection', async () => {
    const record = await recordOf(`http://127.0.0.1:${await freePort()}/mcp`)
    expect(record).toEqual({ outcome: 'error', result: 'failed', status: null })
  })
})
