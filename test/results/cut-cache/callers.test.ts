import type { Client } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { connect as connectOAuth, makeRequest, refresh, registerClient, tokensOf } from '../../oauth/support/client.ts'
import { createVisitor } from '../../oauth/support/visitor.ts'
import { cacheIdOf, callText, callTexts, connect } from '../../servers/mcp.ts'
import { makeServer } from '../../support/api-client.ts'
import { databaseKinds } from '../../support/databases.ts'
import { answerJson } from '../../support/fake-api.ts'
import { during, runFakeApi, runPatchbay, runUser } from '../../support/world.ts'

const ORDERS = Array.from({ length: 5_000 }, (_, id) => ({ id, customer: `customer ${id % 700}`, note: 'as usual' }))
const LAST = { fields: ['[4999].id'] }

/** Calls `list_orders` and returns the id of the cut result. */
const callForId = async (client: Client): Promise<string> => cacheIdOf((await callTexts(client, 'list_orders')).meta)

const continueFrom = (client: Client, cacheId: string) =>
  callText(client, 'proxy_filter', { cache_id: cacheId, ...LAST })

const postgres = databaseKinds.find(({ kind }) => kind === 'postgresql')
if (postgres === undefined) throw new Error('there is no database to test on')

// Both processes load the tables for counting tokens, which takes long on a busy machine.
describe('a cut result at two replicas that share PostgreSQL', { timeout: 60_000 }, () => {
  const here = runPatchbay({ kind: postgres, env: { PATCHBAY_TRUST_PROXY: '127.0.0.0/8' } })
  const there = during(() => here.another())
  const fake = runFakeApi((_request, response) => answerJson(response, ORDERS))
  const owner = runUser(here)
  const guest = runUser(here)

  const make = (server: Record<string, unknown>) =>
    makeServer(owner, [{ name: 'list_orders', method: 'GET', url: `${fake.origin}/orders` }], {
      server: { maxResponseTokens: 1_000, ...server },
    })
  const elsewhere = (url: string): string => url.replace(here.origin, there.origin)
  /** Waits for the row, which is written after the response to the call. */
  const shared = (serverId: string) =>
    expect.poll(() => here.services.db.cachedAnswer.count({ where: { serverId } })).toBeGreaterThan(0)

  it('is continued at either by its caller, while everybody else gets the same error', async () => {
    const { url, serverId } = await make({ access: 'private', allowedUsers: [guest.email] })
    const other = await make({ access: 'private', allowedUsers: [guest.email] })
    const { token: secondToken } = z
      .object({ token: z.string() })
      .parse((await owner.expectOk('POST', '/tokens', { name: 'second' })).body)

    const cacheId = await callForId(await connect(url, owner.token))
    await shared(serverId)
    const outsiders = [
      await connect(url, guest.token),
      await connect(elsewhere(url), guest.token),
      await connect(url, secondToken),
      await connect(elsewhere(url), secondToken),
      await connect(other.url, owner.token),
      await connect(elsewhere(other.url), owner.token),
    ]
    const refusals = await Promise.all(outsiders.map(client => continueFrom(client, cacheId)))
    const madeUp = await continueFrom(await connect(url, owner.token), 'AAAAAAAAAAAAAAAAAAAAAA')
    expect(madeUp).toMatchObject({ isError: true, text: expect.stringContaining('no result with this cache_id') })
    expect(refusals).toEqual(refusals.map(() => madeUp))

    for (const address of [elsewhere(url), url]) {
      const { text, isError } = await continueFrom(await connect(address, owner.token), cacheId)
      expect(isError, text).toBe(false)
      expect(text).toContain('4999')
    }
  })

  it('of an anonymous call is for whoever knows its id, and of a signed-in caller for that caller only', async () => {
    const { url, serverId } = await make({ access: 'public' })
    const other = await make({ access: 'public' })
    const anyones = await callForId(await connect(url))
    const owners = await callForId(await connect(url, owner.token))
    await expect.poll(() => here.services.db.cachedAnswer.count({ where: { serverId } })).toBe(2)
    const [stranger, strangerThere] = [await connect(url), await connect(elsewhere(url))]
    expect((await continueFrom(strangerThere, anyones)).text).toContain('4999')
    expect((await continueFrom(stranger, anyones)).text).toContain('4999')
    for (const client of [stranger, strangerThere, await connect(url, guest.token)]) {
      expect((await continueFrom(client, owners)).isError).toBe(true)
    }
    expect((await continueFrom(await connect(elsewhere(url), owner.token), owners)).text).toContain('4999')
    for (const client of [await connect(other.url), await connect(elsewhere(other.url))]) {
      expect((await continueFrom(client, anyones)).isError).toBe(true)
    }
  })

  it('stays available to its application after a refresh, and is not available to another application', async () => {
    const { url } = await make({ access: 'private' })
    const visitor = createVisitor(here.origin)
    await visitor.signIn(owner.email)
    const authorize = async () => {
      const { client_id: clientId } = await registerClient(here.origin)
      return { clientId, tokens: await connectOAuth(visitor, here.origin, makeRequest(clientId, url)) }
    }
    const { clientId, tokens } = await authorize()
    const cacheId = await callForId(await connect(url, tokens.access_token))
    const next = tokensOf(await refresh(here.origin, clientId, tokens.refresh_token))
    const { text } = await continueFrom(await connect(url, next.access_token), cacheId)
    expect(text).toContain('4999')
    const another = await authorize()
    expect((await continueFrom(await connect(url, another.tokens.access_token), cacheId)).isError).toBe(true)
    expect((await continueFrom(await connect(url, owner.token), cacheId)).isError).toBe(true)
  })

  it('is not available to a caller who has lost access to the server', async () => {
    const { url, serverId } = await make({ access: 'private', allowedUsers: [guest.email] })
    const client = await connect(url, guest.token)
    const cacheId = await callForId(client)
    expect((await continueFrom(client, cacheId)).isError).toBe(false)
    await owner.expectOk('PATCH', `/servers/${serverId}`, { allowedUsers: [] })
    await expect(continueFrom(client, cacheId)).rejects.toThrow()
  })

  it('is deleted from the database with its server', async () => {
    const { url, serverId } = await make({ access: 'private' })
    await callForId(await connect(url, owner.token))
    await shared(serverId)
    await owner.expectOk('DELETE', `/servers/${serverId}`)
    await expect.poll(() => here.services.db.cachedAnswer.count({ where: { serverId } })).toBe(0)
  })
})
