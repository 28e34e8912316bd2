import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { createBrowser } from '../support/browser.ts'
import { databasesOfRun } from '../support/databases.ts'
import { runPatchbay } from '../support/world.ts'
import { readEvents } from './event-reader.ts'

const PASSWORD = 'correct horse battery staple'
const MAX_PER_SIGN_IN = 8
const MAX_PER_USER = 32

const Nothing = z.object({})

describe.each(databasesOfRun)('the live stream of an organization on $kind', kind => {
  const world = runPatchbay({ kind })
  const ends: (() => void)[] = []
  afterAll(() => {
    for (const end of ends) end()
  })

  const watch = async (organizationId: string, headers: Record<string, string>) => {
    const stream = await readEvents(`${world.origin}/organizations/${organizationId}/live`, headers)
    ends.push(stream.close)
    return stream
  }
  const asToken = (token: string | undefined) => ({ authorization: `Bearer ${token}` })
  const signIn = async (email: string) => {
    const browser = createBrowser(world.origin)
    await browser.signIn(email, PASSWORD)
    await browser.loadCsrfToken()
    return { browser, cookie: { cookie: [...browser.cookies].map(pair => pair.join('=')).join('; ') } }
  }

  it('ends when the viewer signs out', async () => {
    const owner = await world.person()
    const { browser, cookie } = await signIn(owner.email)
    // The end of a session raises no event, so access is checked again every five seconds. The first stream starts the
    // timer for all, so this test comes first.
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'], shouldClearNativeTimers: true })
    onTestFinished(() => void vi.useRealTimers())
    const stream = await watch(owner.organizationId, cookie)
    expect(stream.status).toBe(200)
    await browser.send('DELETE', '/session')
    vi.advanceTimersByTime(5_000)
    await stream.next('over', Nothing)
    await stream.closed
  })

  it('is only for members, and ends for one who is removed, but not for others', async () => {
    const owner = await world.person()
    const { organizationId } = owner
    const colleague = await world.member(organizationId, 'viewer')
    const stranger = await world.person()
    expect((await watch(organizationId, {})).status).toBe(303)
    expect((await watch(organizationId, asToken(stranger.token))).status).toBe(404)
    const stream = await watch(organizationId, asToken(colleague.token))
    const stays = await watch(organizationId, asToken(owner.token))
    expect([stream.status, stays.status]).toEqual([200, 200])
    await owner.expectOk('DELETE', `/organizations/${organizationId}/members/${colleague.userId}`)
    await stream.next('over', Nothing)
    await stream.closed
    expect(stays.seen.map(({ event }) => event)).not.toContain('over')
    expect((await watch(organizationId, asToken(colleague.token))).status).toBe(404)
  })

  it('ends for a member whose token is revoked', async () => {
    const owner = await world.person()
    const made = z.object({ id: z.string(), token: z.string() })
    const second = made.parse((await owner.expectOk('POST', '/tokens', { name: 'second' })).body)
    const stream = await watch(owner.organizationId, asToken(second.token))
    expect(stream.status).toBe(200)
    await owner.expectOk('DELETE', `/tokens/${second.id}`)
    await stream.next('over', Nothing)
    await stream.closed
  })

  it('counts towards the open pages of a browser and of a user, and makes room when it is closed', async () => {
    const { email, organizationId } = await world.person()
    const first = await signIn(email)
    const streams = []
    for (let count = 0; count < MAX_PER_SIGN_IN; count++) streams.push(await watch(organizationId, first.cookie))
    expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200))
    expect((await watch(organizationId, first.cookie)).status).toBe(429)
    streams[0]?.close()
    await expect.poll(async () => (await watch(organizationId, first.cookie)).status).toBe(200)

    for (let browsers = 1; browsers < MAX_PER_USER / MAX_PER_SIGN_IN; browsers++) {
      const { cookie } = await signIn(email)
      for (let count = 0; count < MAX_PER_SIGN_IN; count++) {
        expect((await watch(organizationId, cookie)).status).toBe(200)
      }
    }
    expect((await watch(organizationId, (await signIn(email)).cookie)).status).toBe(429)
  })
})
