import { beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { during, runPatchbay } from '../support/world.ts'
import { startOAuthFake } from './oauth-fake.ts'
import { attach, leavingLink, makePerson, startConnecting } from './oauth-support.ts'

type Person = Awaited<ReturnType<typeof makePerson>>

const fake = during(() => startOAuthFake())
const patchbay = runPatchbay()
const owner = during(() => makePerson(patchbay.origin, 'front@example.com'))
beforeEach(() => fake.behave())

const connect = async ({ visitor }: Person, upstreamId: string): Promise<void> => {
  const page = await visitor.get(fake.agree(leavingLink(await startConnecting(visitor, upstreamId))))
  if (page.status !== 200) throw new Error(`not connected: ${page.status} ${page.text}`)
}

const removeSelf = async (person: Person): Promise<void> => {
  const { body } = await person.expectOk('GET', '/me')
  const { organizations } = z.object({ organizations: z.array(z.object({ id: z.string() })) }).parse(body)
  await person.expectOk('DELETE', '/me', {
    password: 'correct horse battery staple',
    organizations: Object.fromEntries(organizations.map(({ id }) => [id, 'remove'])),
  })
}

const ENDS: readonly {
  name: string
  per: 'server' | 'caller'
  end: (of: Record<string, string>) => Promise<unknown>
}[] = [
  {
    name: 'its upstream',
    per: 'server',
    end: ({ upstreamId }) => owner.expectOk('DELETE', `/upstreams/${upstreamId}`),
  },
  { name: 'its server', per: 'caller', end: ({ serverId }) => owner.expectOk('DELETE', `/servers/${serverId}`) },
  {
    name: 'the way its upstream is reached',
    per: 'caller',
    end: ({ upstreamId }) =>
      owner.expectOk('PATCH', `/upstreams/${upstreamId}`, { auth: { type: 'oauth', per: 'server' } }),
  },
]

describe('an account at an upstream', () => {
  /** Returns the tokens revoked after the first `count` revocations. */
  const toldSince = (count: number) => fake.revoked.slice(count).map(form => form.get('token'))
  const kept = (upstreamId: string) => patchbay.services.db.upstreamAccount.count({ where: { upstreamId } })

  it.each(ENDS)('is revoked at its authorization server when $name is deleted', async ({ per, end }) => {
    const attached = await attach(owner, fake.url, { type: 'oauth', per })
    await connect(owner, attached.upstreamId)
    const given = fake.given.slice(-2)
    const count = fake.revoked.length
    await end(attached)
    await expect.poll(() => toldSince(count)).toEqual(given.toReversed())
    expect(await kept(attached.upstreamId)).toBe(0)
  })

  it('is revoked at its authorization server when its user is deleted with their organization and servers', async () => {
    const carol = await makePerson(patchbay.origin, 'carol@example.com')
    const hers = await attach(carol, fake.url, { type: 'oauth' })
    await connect(carol, hers.upstreamId)
    const others = await attach(owner, fake.url, { type: 'oauth', per: 'caller' }, { server: { access: 'public' } })
    await connect(carol, others.upstreamId)
    const given = fake.given.slice(-4)
    const count = fake.revoked.length
    await removeSelf(carol)
    await expect.poll(() => toldSince(count).toSorted()).toEqual(given.toSorted())
    expect(await kept(others.upstreamId)).toBe(0)
  })

  it('is deleted at once, even if its authorization server does not respond', async () => {
    const { upstreamId } = await attach(owner, fake.url, { type: 'oauth' })
    await connect(owner, upstreamId)
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    fake.behave({
      afterRevocation: () => {
        asked.resolve()
        return answered.promise
      },
    })
    await owner.expectOk('DELETE', `/upstreams/${upstreamId}`)
    expect(await kept(upstreamId)).toBe(0)
    await asked.promise
    answered.resolve()
  })
})
