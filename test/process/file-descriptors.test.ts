import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { Agent, get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { json } from 'node:stream/consumers'
import { expect, it, onTestFinished, vi } from 'vitest'
import { echo, startFakeApi } from '../support/fake-api.ts'
import { runCommand, startPatchbay } from '../support/process.ts'
import { callTool, serveApi } from './calls.ts'

vi.setConfig({ testTimeout: 90_000 })

const MAX_FILES = 100

it.runIf(process.platform === 'linux')(
  'a process without free file descriptors says so, goes on, and recovers',
  async () => {
    const patchbay = await startPatchbay({ maxFiles: MAX_FILES })
    const api = await startFakeApi(echo)
    onTestFinished(api.close)
    const { url } = await serveApi(patchbay, api)
    // A connection that is open before the shortage, for asking during it.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => agent.destroy())
    const readiness = async (): Promise<unknown> => {
      const [response]: IncomingMessage[] = await once(get(`${patchbay.origin}/readyz`, { agent }), 'response')
      if (response === undefined) throw new Error('no response')
      return json(response)
    }
    expect(await readiness()).toMatchObject({ status: 'ok' })

    const sockets = Array.from({ length: MAX_FILES + 20 }, () => connect(patchbay.port, '127.0.0.1'))
    for (const socket of sockets) socket.on('error', () => undefined)
    const problems = [expect.stringMatching(/run out of file descriptors.*ulimit -n/)]
    await vi.waitFor(async () => expect(await readiness()).toMatchObject({ status: 'degraded', problems }), {
      timeout: 20_000,
      interval: 200,
    })
    const unheard = await runCommand(['doctor'], patchbay.settings)
    expect(unheard).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^1 problem:\n- running server: .*respond/),
    })
    for (const socket of sockets) socket.destroy()
    await vi.waitFor(() => expect(readdirSync(`/proc/${patchbay.pid}/fd`).length).toBeLessThan(MAX_FILES / 2 + 20))

    expect(await callTool(url, 'get_thing')).toMatchObject({ status: 200, text: expect.stringContaining('/thing') })
    const doctor = await runCommand(['doctor'], patchbay.settings)
    expect(doctor).toMatchObject({ code: 1, stdout: expect.stringContaining('run out of file descriptors') })
    expect(await patchbay.stop()).toMatchObject({ code: 0 })
    expect(patchbay.stdout().match(/"problem":"file_descriptors".*run out/g)).toHaveLength(1)
  },
)
