import { describe, expect, it } from 'vitest'
import type { ListBasis } from '../../src/runtime/call/compiled-server.ts'
import { createListUpkeep } from '../../src/runtime/list-upkeep.ts'
import { makeServer } from '../support/api-client.ts'
import { runPatchbay, runUser } from '../support/world.ts'

describe('the check of the lists of servers', () => {
  const patchbay = runPatchbay()
  const ada = runUser(patchbay, 'operator@example.com')

  it('continues after a failure, makes up for it the next time, and skips lists that use does not change', async () => {
    const announced: unknown[] = []
    let failures = 1
    const { db } = patchbay.services
    const lists = createListUpkeep({
      db,
      changes: {
        commit: async work => {
          if (failures-- > 0) throw new Error('The database is full.')
          return work(db, event => announced.push(event))
        },
      },
      isKnownSmall: () => false,
      onInternalError: () => {},
    })
    const make = async (cutResultTools: ListBasis['cutResultTools']): Promise<string> => {
      const tool = { name: 'items', method: 'GET', url: 'https://api.example.com/items' }
      const { serverId } = await makeServer(ada, [tool], { server: { maxResponseTokens: 1_000 } })
      lists.noteCompiled(serverId, { cutResultTools, mostUsed: [] })
      return serverId
    }
    const one = await make({ isListed: false, reason: { kind: 'small' } })
    const other = await make({ isListed: false, reason: { kind: 'small' } })
    await make({ isListed: false, reason: { kind: 'chosen' } })
    const recheck = () => lists.recheck(new AbortController().signal)
    await expect(recheck()).rejects.toThrow('The database is full.')
    expect(announced).toHaveLength(1)
    await recheck()
    await recheck()
    expect(announced).toHaveLength(2)
    for (const serverId of [one, other]) expect(announced).toContainEqual({ type: 'server_changed', serverId })
  })
})
