import { expect, it } from 'vitest'
import { callText, connect } from '../servers/mcp.ts'
import { runAttached } from './attached.ts'
import { commandOf, gone } from './support.ts'

const world = runAttached()

it('the processes of a suspended server end, those of others run on, and a call after it is restored starts them again', async () => {
  const { serverId, url } = await world.makeServer({ command: commandOf('hostile') })
  const other = await world.makeServer({ command: commandOf('hostile') })
  const pidOf = async (at: string): Promise<number> => Number((await callText(await connect(at), 'command_pid')).text)
  const [pid, otherPid] = [await pidOf(url), await pidOf(other.url)]
  const suspension = `/servers/${serverId}/suspension`
  await world.operator.expectOk('PUT', suspension, { reason: 'Sends spam' })
  await gone([pid])
  expect(await pidOf(other.url)).toBe(otherPid)
  await world.operator.expectOk('DELETE', suspension)
  expect(await pidOf(url)).not.toBe(pid)
})
