import { describe, expect, it, onTestFinished } from 'vitest'
import { knock } from '../mcp/messages.ts'
import { databasesOfRun } from '../support/databases.ts'
import { connect, makeRequest, refresh, registerClient, tokensOf } from './support/client.ts'
import { letTimePass, SECOND_MS } from './support/time.ts'
import { startOAuthWorld } from './support/world.ts'

const ROUNDS = 3

describe.each(databasesOfRun)('a client that refreshes at two processes at the same time, on $kind', kind => {
  /** Starts two processes with the same base URL, and registers a client. */
  const startPair = async (env: Record<string, string> = {}) => {
    const world = await startOAuthWorld({ kind, env })
    onTestFinished(world.close)
    const second = await world.another(env)
    onTestFinished(second.close)
    const { client_id } = await registerClient(world.origin)
    // The address at which the second process listens.
    const there = `http://localhost:${second.settings.port}`
    return {
      world,
      origins: [world.origin, there],
      obtain: () => connect(world.visitor, world.origin, makeRequest(client_id, world.serverUrl)),
      refreshAt: (origin: string, token: string) => refresh(origin, client_id, token),
      knockAt: (origin: string, token: string) => knock(world.serverUrl.replace(world.origin, origin), token),
    }
  }

  it('gets tokens from both, all of which are revoked when it does so again later', async () => {
    const { world, origins, obtain, refreshAt, knockAt } = await startPair()
    const [here = '', there = ''] = origins
    const { refresh_token } = await obtain()
    const answers = await Promise.all([here, there, here, there].map(origin => refreshAt(origin, refresh_token)))
    const rotated = answers.map(tokensOf)
    expect(new Set(rotated.map(({ refresh_token: next }) => next)).size).toBe(4)
    for (const { access_token } of rotated) {
      expect([await knockAt(here, access_token), await knockAt(there, access_token)]).toEqual([200, 200])
    }
    await letTimePass(world, 11 * SECOND_MS)
    expect((await refreshAt(there, refresh_token)).body.error).toBe('invalid_grant')
    for (const { access_token } of rotated) {
      expect(await knockAt(there, access_token)).toBe(401)
      await expect.poll(() => knockAt(here, access_token), { timeout: 4_000 }).toBe(401)
    }
  })

  it('loses its access without a grace period, whichever process was first', async () => {
    const { origins, obtain, refreshAt, knockAt } = await startPair({
      PATCHBAY_OAUTH_REFRESH_GRACE_SECONDS: '0',
    })
    const [here = '', there = ''] = origins
    for (let round = 0; round < ROUNDS; round++) {
      const tokens = await obtain()
      const answers = await Promise.all(
        [here, there, here, there].map(origin => refreshAt(origin, tokens.refresh_token)),
      )
      const given = answers.flatMap(({ status, body }) => (status === 200 ? [String(body.access_token)] : []))
      expect(given.length).toBeLessThanOrEqual(1)
      for (const token of [tokens.access_token, ...given]) expect(await knockAt(here, token)).toBe(401)
    }
  })
})
