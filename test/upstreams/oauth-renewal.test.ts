import { beforeEach, describe, expect, it } from 'vitest'
import { fieldsOf } from '../oauth/support/visitor.ts'
import { databasesOfRun } from '../support/databases.ts'
import { during, runPatchbay } from '../support/world.ts'
import { startOAuthFake } from './oauth-fake.ts'
import { attach, callServer, leavingLink, listTools, makePerson, startConnecting } from './oauth-support.ts'

/** `expires_in` in seconds, short enough to force an immediate renewal. */
const AT_ONCE = 0.002

const fake = during(() => startOAuthFake())
beforeEach(() => fake.behave())

type Person = Awaited<ReturnType<typeof makePerson>>

const connect = async ({ visitor }: Person, upstreamId: string): Promise<void> => {
  const page = await visitor.get(fake.agree(leavingLink(await startConnecting(visitor, upstreamId))))
  if (page.status !== 200) throw new Error(`not connected: ${page.status} ${page.text}`)
}

describe.each(databasesOfRun)("an account's token, on $kind", kind => {
  /** Runs a test on one database only, for behavior that does not depend on the database. */
  const itOnce = it.runIf(kind.kind === 'sqlite')
  const patchbay = runPatchbay({ kind })
  const other = during(() => patchbay.another())
  const owner = during(() => makePerson(patchbay.origin, 'front@example.com'))

  const attachConnected = async () => {
    const attached = await attach(owner, fake.url, { type: 'oauth' })
    await connect(owner, attached.upstreamId)
    expect(await listTools(attached.url, owner.token)).toContain('back_whoami')
    return attached
  }
  const accountIdOf = async (upstreamId: string) =>
    (await patchbay.services.db.upstreamAccount.findFirstOrThrow({ where: { upstreamId } })).id
  const stateOf = async (upstreamId: string) => (await owner.expectOk('GET', `/upstreams/${upstreamId}`)).body

  it('is renewed once before it expires, however many calls of two processes wait for it', async () => {
    fake.behave({ expiresIn: AT_ONCE })
    const { url } = await attachConnected()
    const elsewhere = url.replace(patchbay.origin, other.origin)
    // Each process has its own connection.
    await callServer(url, owner.token, 'back_whoami')
    await callServer(elsewhere, owner.token, 'back_whoami')
    fake.behave()
    const before = fake.renewals()
    const calls = Array.from({ length: 16 }, (_, index) =>
      callServer(index % 2 === 0 ? url : elsewhere, owner.token, 'back_whoami'),
    )
    for (const { isError, text } of await Promise.all(calls)) expect(isError ?? false, text).toBe(false)
    expect(fake.renewals() - before).toBe(1)
  })

  itOnce('is renewed once if the upstream rejects it, and the call continues', async () => {
    const { url, serverId } = await attachConnected()
    await callServer(url, owner.token, 'back_whoami')
    fake.endAccess()
    const before = fake.renewals()
    expect((await callServer(url, owner.token, 'back_whoami')).isError).not.toBe(true)
    expect(fake.renewals() - before).toBe(1)
    expect((await owner.expectOk('GET', `/servers/${serverId}/executions`)).body).toMatchObject({
      items: [{ attempts: [{ status: 401 }, { status: 200 }] }, { attempts: null }],
    })
  })

  itOnce('requires reconnecting the account if it is rejected even after a renewal', async () => {
    const { url, upstreamId } = await attachConnected()
    fake.behave({ refusesTokens: true })
    const before = fake.renewals()
    const refused = await callServer(url, owner.token, 'back_whoami')
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('must reconnect it') })
    expect(fake.renewals() - before).toBe(1)
    // The connection is retried in the background, so its state may take a while to change.
    await expect
      .poll(() => stateOf(upstreamId))
      .toMatchObject({ state: { kind: 'failed', why: expect.stringContaining('must reconnect it') } })
  })

  itOnce(
    'is unusable once its authorization server refuses to renew it, until the account is reconnected',
    async () => {
      const { url, upstreamId } = await attachConnected()
      fake.endAccess()
      fake.behave({ renewal: { status: 400, body: { error: 'invalid_grant', error_description: '<b>gone</b>' } } })
      const refused = await callServer(url, owner.token, 'back_whoami')
      expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('must reconnect it') })
      await expect
        .poll(() => stateOf(upstreamId))
        .toMatchObject({
          auth: { connection: { brokenSince: expect.any(String) } },
          state: { kind: 'failed', why: expect.stringContaining('must reconnect it') },
        })
      const before = fake.renewals()
      expect((await callServer(url, owner.token, 'back_whoami')).text).toContain('must reconnect it')
      expect(fake.renewals()).toBe(before)

      fake.behave()
      await connect(owner, upstreamId)
      expect((await callServer(url, owner.token, 'back_whoami')).isError).not.toBe(true)
      expect(await stateOf(upstreamId)).toMatchObject({ auth: { connection: { brokenSince: null } } })
    },
  )

  itOnce('stays while its authorization server is down, and is renewed once that is back', async () => {
    const { url, upstreamId } = await attachConnected()
    fake.endAccess()
    fake.behave({ renewal: { status: 503, body: 'out of order' } })
    const refused = await callServer(url, owner.token, 'back_whoami')
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('did not renew the token') })
    expect(await stateOf(upstreamId)).toMatchObject({ auth: { connection: { brokenSince: null } } })
    fake.behave()
    // In either process, a renewal that is already in progress may still fail, together with the calls that wait for
    // it.
    const callAgain = async () => (await callServer(url, owner.token, 'back_whoami')).isError
    await expect.poll(callAgain, { timeout: 10_000 }).not.toBe(true)
  })

  it('is gone if the account is disconnected during a failing renewal', async () => {
    fake.behave({ expiresIn: 2 })
    const { url, upstreamId } = await attach(owner, fake.url, { type: 'oauth', per: 'caller' })
    await connect(owner, upstreamId)
    const call = () => callServer(url, owner.token, 'back_whoami')
    const [asked, answered] = [Promise.withResolvers<'asked'>(), Promise.withResolvers<void>()]
    fake.behave({
      renewal: { status: 503, body: 'out of order' },
      beforeRenewal: () => {
        asked.resolve('asked')
        return answered.promise
      },
    })
    // When its renewal is due, the token is still valid for a second.
    while ((await Promise.race([asked.promise, call()])) !== 'asked');
    await owner.expectOk('DELETE', `/me/upstream-accounts/${await accountIdOf(upstreamId)}`)
    answered.resolve()
    for (let times = 0; times < 20; times++) expect((await call()).text).toContain('not connected your own account')
  })

  itOnce('is sent only to the address that was connected', async () => {
    const { upstreamId } = await attachConnected()
    const elsewhere = await startOAuthFake()
    try {
      await owner.expectOk('PATCH', `/upstreams/${upstreamId}`, { url: elsewhere.url })
      const { status, body } = await owner.send('POST', `/upstreams/${upstreamId}/refresh`)
      expect(status).toBe(503)
      expect(body).toMatchObject({
        detail: expect.stringContaining('address has changed since its account was connected'),
      })
      const shown = elsewhere.seen.map(({ headers }) => headers.authorization ?? '')
      expect(shown.filter(text => text !== '')).toEqual([])
    } finally {
      await elsewhere.close()
    }
  })

  itOnce('names the missing scope if it does not suffice', async () => {
    const { url } = await attachConnected()
    fake.behave({ scopeNeeded: 'parcels:write' })
    const refused = await callServer(url, owner.token, 'back_whoami')
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('"parcels:write"') })
  })

  it('is revoked and deleted when the account is disconnected', async () => {
    const { url, upstreamId } = await attachConnected()
    const page = await owner.visitor.get(`/connect/${upstreamId}`)
    const { action, fields } = fieldsOf(page, '/disconnection')
    const count = fake.revoked.length
    expect((await owner.visitor.post(action, fields)).status).toBe(200)
    await expect
      .poll(() => fake.revoked.slice(count).map(form => form.get('token_type_hint')))
      .toEqual(['refresh_token', 'access_token'])
    expect((await callServer(url, owner.token, 'back_whoami')).text).toContain('no connected account')
    expect(await patchbay.services.db.upstreamAccount.count({ where: { upstreamId } })).toBe(0)
  })

  itOnce('stays masked in what the upstream said when the connection opened, after many renewals', async () => {
    fake.behave({ expiresIn: AT_ONCE })
    const { url, upstreamId } = await attachConnected()
    const opened = fake.given.length
    for (let times = 0; times < 6; times++) await callServer(url, owner.token, 'back_whoami')
    expect(fake.given.length - opened).toBeGreaterThanOrEqual(12)
    fake.behave()
    const { body } = await owner.expectOk('POST', `/upstreams/${upstreamId}/refresh`)
    const { content } = await patchbay.services.db.upstreamCatalogue.findUniqueOrThrow({ where: { upstreamId } })
    expect(JSON.stringify(content)).toContain('seen Bearer')
    const shown = JSON.stringify([body, content])
    expect(fake.given.filter(token => shown.includes(token))).toEqual([])
  })

  it('appears in no result, history, audit entry or table, whatever the upstream returns', async () => {
    const { url, upstreamId, serverId } = await attachConnected()
    const echoed = await callServer(url, owner.token, 'back_whoami')
    expect(echoed.text).toContain('you showed')
    await callServer(url, owner.token, 'back_fail')
    const { db } = patchbay.services
    const shown = [
      echoed.text,
      (await callServer(url, owner.token, 'back_fail')).text,
      JSON.stringify((await owner.expectOk('GET', `/servers/${serverId}/executions`)).body),
      JSON.stringify((await owner.expectOk('POST', `/upstreams/${upstreamId}/refresh`)).body),
      (await owner.visitor.get(`/servers/${serverId}/sources/upstreams/${upstreamId}`)).text,
      JSON.stringify([
        await db.upstreamAccount.findMany(),
        await db.upstreamClient.findMany(),
        await db.upstreamCatalogue.findMany(),
        await db.auditEntry.findMany(),
        await db.session.findMany(),
      ]),
    ]
    // The upstream does not see the caller's token either.
    expect(JSON.stringify(fake.seen.map(({ headers, body }) => [headers, body]))).not.toContain(owner.token)
    for (const token of fake.given) for (const text of shown) expect(text.includes(token)).toBe(false)
  })
})
