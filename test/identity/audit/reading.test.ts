import { beforeAll, describe, expect, it } from 'vitest'
import { signUp } from '../../support/api-client.ts'
import { databasesOfRun } from '../../support/databases.ts'
import { runPatchbay, runUser } from '../../support/world.ts'
import { download, linesOf, readEntries, readPage } from './audit-world.ts'

/** More entries than two batches of an export hold. */
const MANY = 1_203
const HOUR_MS = 60 * 60 * 1_000
const NOON = Date.parse('2026-05-04T12:00:00.000Z')

describe.each(databasesOfRun)('reading the audit log on $kind', kind => {
  const patchbay = runPatchbay({ kind })
  let log: string
  const operator = runUser(patchbay)
  const owner = runUser(patchbay)
  beforeAll(async () => {
    const { db } = patchbay.services
    const { organizationId } = await db.membership.findFirstOrThrow({ where: { userId: owner.userId } })
    log = `/organizations/${organizationId}/audit`
    await db.auditEntry.createMany({
      data: Array.from({ length: MANY }, (_, index) => ({
        organizationId,
        action: index % 2 === 0 ? 'secret.set' : 'server.access_changed',
        actorId: index === 7 ? null : owner.userId,
        actorEmail: `person ${index}`,
        targetType: 'server',
        targetId: `server ${index % 3}`,
        targetName: 'line\nbreak \u001b[31m and "quotes"',
        createdAt: new Date(NOON + index * HOUR_MS),
      })),
    })
  })

  it('returns the newest first, in pages that neither repeat nor skip an entry', async () => {
    const seen: string[] = []
    let cursor = ''
    for (;;) {
      const page = await readPage(owner, `${log}?limit=200${cursor}`)
      seen.push(...page.items.map(({ id }) => id))
      if (page.nextCursor === null) break
      cursor = `&cursor=${page.nextCursor}`
    }
    expect(seen).toEqual([...seen].sort().reverse())
    // One more entry records the creation of the organization.
    expect(new Set(seen).size).toBe(MANY + 1)
  })

  it('can be filtered by action, kind of action, user, target and time', async () => {
    const actionsOf = async (query: string) =>
      new Set((await readEntries(owner, log, query)).map(({ action }) => action))
    expect(await actionsOf('&action=secret.set')).toEqual(new Set(['secret.set']))
    expect(await actionsOf('&action=server.')).toEqual(new Set(['server.access_changed']))
    expect(await actionsOf('&action=token.')).toEqual(new Set())
    const targets = await readEntries(owner, log, '&targetId=server 2')
    expect(new Set(targets.map(({ target }) => target.id))).toEqual(new Set(['server 2']))
    expect(await readEntries(owner, log, `&actorId=${crypto.randomUUID()}`)).toEqual([])
    expect((await readEntries(owner, log, `&actorId=${owner.userId}`)).length).toBe(200)
    const time = (hours: number) => new Date(NOON + hours * HOUR_MS).toISOString()
    const some = await readEntries(owner, log, `&from=${time(3)}&to=${time(6)}`)
    expect(some.map(({ at }) => at)).toEqual([time(5), time(4), time(3)])
  })

  it.each([
    'action=token',
    'action=nothing.happened',
    'actorId=me',
    'from=yesterday',
    'from=0000-01-01',
    'to=0001-01-01T00:00:00%2B14:00',
    'format=csv',
    'limit=0',
    'cursor=x',
  ])('rejects %s with an error that names it', async query => {
    const name = query.split('=')[0]
    expect(await owner.send('GET', `${log}?${query}`)).toMatchObject({
      status: 400,
      body: { errors: [{ path: name }] },
    })
  })

  it('returns all matching entries as a file, one per line, whatever their names contain', async () => {
    const response = await download(owner, `${log}?format=ndjson`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="audit.ndjson"')
    const text = await response.text()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that there are none is the point
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/)
    const entries = linesOf(text)
    expect(entries).toHaveLength(MANY + 1)
    expect(entries.map(({ id }) => id)).toEqual(
      entries
        .map(({ id }) => id)
        .toSorted()
        .toReversed(),
    )
    expect(entries[0]?.target.name).toBe('line\nbreak \u001b[31m and "quotes"')

    const part = linesOf(await (await download(owner, `${log}?format=ndjson&action=secret.set`)).text())
    expect(part).toHaveLength(Math.ceil(MANY / 2))
  })

  it('returns an empty file if nothing matches', async () => {
    const response = await download(owner, `${log}?format=ndjson&action=token.`)
    expect([response.status, await response.text()]).toEqual([200, ''])
  })

  it('lets only the operator read the whole log, including all sign-ups', async () => {
    const all = linesOf(await (await download(operator, '/audit?format=ndjson')).text())
    expect(all.length).toBeGreaterThan(MANY)
    expect(all.filter(({ action }) => action === 'user.signed_up')).toHaveLength(2)
    expect((await download(owner, '/audit?format=ndjson')).status).toBe(403)
    expect((await download(operator, `${log}?format=ndjson`)).status).toBe(404)
  })

  it('returns a user’s own actions, except those in organizations they have left', async () => {
    const guest = await signUp(patchbay.origin)
    const { db } = patchbay.services
    const organizationId = log.split('/')[2] ?? ''
    const membership = { organizationId, userId: guest.userId, role: 'builder' } as const
    await db.membership.create({ data: membership })
    await guest.create('/toolkits', { title: 'Of a guest', organizationId })
    const seen = async () => (await readEntries(guest, '/me/audit')).map(({ action }) => action)
    expect(await seen()).toEqual(['toolkit.created', 'token.created', 'organization.created', 'user.signed_up'])
    await db.membership.deleteMany({ where: membership })
    expect(await seen()).toEqual(['token.created', 'organization.created', 'user.signed_up'])
  })
})
