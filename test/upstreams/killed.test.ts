import { describe, expect, it } from 'vitest'
import { connect } from '../servers/mcp.ts'
import { runAttached } from './attached.ts'
import { textOf } from './clients.ts'
import { commandOf, gone } from './support.ts'

const CALLERS = 8
const CALLS = 160
const KILLS = 4

const world = runAttached()

describe('an upstream process that is killed under load', () => {
  it('fails only the calls in progress, each with a clear error; the next call starts it again', async () => {
    const { url } = await world.makeServer({ frail: commandOf('hostile'), other: commandOf('hostile') })
    const client = await connect(url)
    const call = (name: string, args: Record<string, unknown> = {}) => client.callTool({ name, arguments: args })

    const pids = new Set<number>()
    const kill = async (): Promise<void> => {
      const pid = Number(textOf(await call('frail_pid')))
      if (!Number.isSafeInteger(pid)) return kill()
      // Makes sure that at least one call is in progress.
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
        'The MCP server "frail" failed: The process was terminated by SIGKILL. Its log may say why. The next call restarts it.',
      ]),
    )
    // Each call got one result, or an error if it was in progress during a kill.
    expect(answered.length + lost.length - KILLS).toBe(CALLS)
    expect(new Set(answered).size).toBe(answered.length)
    expect(lost.length).toBeLessThanOrEqual(KILLS * (CALLERS + 1))
    expect(textOf(await call('frail_echo', { text: 'as ever' }))).toBe('as ever')
    await gone([...pids])
  })
})
