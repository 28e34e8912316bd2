import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { signUp } from '../support/api-client.ts'
import { startTestApp } from '../support/app.ts'
import { runMark } from '../support/leftovers.ts'
import { startPatchbay } from '../support/process.ts'
import { textOf } from './official-clients.ts'
import { commandOf, gone, isAlive } from './support.ts'

const CALLERS = 8
const CALLS = 400
const KILLS = 4

const apps: Awaited<ReturnType<typeof startTestApp>>[] = []
afterAll(async () => {
  for (const app of apps) await app.close()
})

const connect = async (url: string): Promise<Client> => {
  const client = new Client({ name: 'official', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  return client
}

describe('an upstream process that is killed under load', () => {
  it('fails only the calls in progress, each with a clear error; the next call starts it again', async () => {
    const app = await startTestApp({ env: { PATCHBAY_ALLOW_STDIO: 'true' } })
    apps.push(app)
    const operator = await signUp(app.origin, 'operator@example.com')
    const { id } = await operator.create('/servers', { name: 'Attached', access: 'public' })
    const upstreams = await Promise.all(
      ['frail', 'other'].map(name => operator.create(`/servers/${id}/upstreams`, { name, ...commandOf('hostile') })),
    )
    for (const upstream of upstreams) await operator.expectOk('POST', `/upstreams/${upstream.id}/refresh`)
    const client = await connect(`${app.origin}/s/${id}`)
    const call = (name: string, args: Record<string, unknown> = {}) => client.callTool({ name, arguments: args })

    const pids = new Set<number>()
    const kill = async (): Promise<void> => {
      const pid = Number(textOf(await call('frail_pid')))
      if (!Number.isSafeInteger(pid)) return kill()
      // At least one call is in progress.
      const hanging = call('frail_hang')
      await call('other_echo', { text: 'meanwhile' })
      pids.add(pid)
      process.kill(pid, 'SIGKILL')
      lost.push(textOf(await hanging))
    }
    const lost: string[] = []
    const answered: string[] = []
    let next = 0
    const work = async (): Promise<void> => {
      for (let turn = next++; turn < CALLS; turn = next++) {
        const [mine, others] = await Promise.all([
          call('frail_echo', { text: `${turn}` }),
          call('other_echo', { text: `${turn}` }),
        ])
        expect(textOf(others)).toBe(`${turn}`)
        if (mine.isError) lost.push(textOf(mine))
        else answered.push(textOf(mine))
        if (turn % (CALLS / KILLS) === CALLS / KILLS / 2) await kill()
      }
    }
    await Promise.all(Array.from({ length: CALLERS }, work))

    expect(pids.size).toBe(KILLS)
    expect(new Set(lost)).toEqual(
      new Set([
        'The upstream "frail" failed: The process was ended by SIGKILL. Its log may say why. The next call restarts it.',
      ]),
    )
    // Each call got one result, or an error if it was in progress during a kill.
    expect(answered.length + lost.length - KILLS).toBe(CALLS)
    expect(new Set(answered).size).toBe(answered.length)
    expect(lost.length).toBeLessThanOrEqual(KILLS * (CALLERS + 1))
    expect(textOf(await call('frail_echo', { text: 'as ever' }))).toBe('as ever')
    await gone([...pids])
    await client.close()
  })
})

describe.runIf(process.platform === 'linux')('Patchbay killed with SIGKILL', () => {
  it('leaves processes that the next start ends, and serves as before', async () => {
    const env = { PATCHBAY_ALLOW_STDIO: 'true' }
    const before = await startPatchbay({ env })
    const operator = await signUp(before.origin, 'operator@example.com')
    const { id } = await operator.create('/servers', { name: 'Attached', access: 'public' })
    const command = commandOf('hostile', 'is-stubborn')
    const body = { name: 'stubborn', ...command, env: runMark() }
    const upstream = await operator.create(`/servers/${id}/upstreams`, body)
    await operator.expectOk('POST', `/upstreams/${upstream.id}/refresh`)
    const client = await connect(`${before.origin}/s/${id}`)
    const children = textOf(await client.callTool({ name: 'stubborn_fork', arguments: {} }))
    const pid = textOf(await client.callTool({ name: 'stubborn_pid', arguments: {} }))
    const pids = `${pid} ${children}`.split(' ').map(Number)
    const hanging = client.callTool({ name: 'stubborn_hang', arguments: {} }).catch((error: unknown) => error)
    await client.listTools()
    before.kill('SIGKILL')
    await before.ended
    expect(pids.map(isAlive)).toEqual([true, true, true])
    // It received nothing, because its connection is closed.
    expect(await hanging).toBeInstanceOf(Error)
    await client.close().catch(() => {})

    const after = await startPatchbay({ directory: before.directory, env })
    onTestFinished(async () => void (await after.stop()))
    await gone(pids)
    const again = await connect(`${after.origin}/s/${id}`)
    expect((await again.listTools()).tools.map(({ name }) => name)).toContain('stubborn_echo')
    const answered = await again.callTool({ name: 'stubborn_echo', arguments: { text: 'as before' } })
    expect(textOf(answered)).toBe('as before')
    await again.close()
    await after.stop()
    const ledger = join(before.directory, 'data/processes')
    expect(existsSync(ledger) ? readdirSync(ledger) : []).toEqual([])
  })
})
