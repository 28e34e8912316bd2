import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeAudit } from '../../../src/identity/audit/audit.store.ts'
import { type AuditLog, createAuditLog } from '../../../src/identity/audit/audit-log.ts'
import { signUp } from '../../support/api-client.ts'
import { databaseKinds } from '../../support/databases.ts'
import { runPatchbay } from '../../support/world.ts'
import { readEntries } from './audit-world.ts'

const SRC = join(import.meta.dirname, '../../../src')
const DAY_MS = 24 * 60 * 60 * 1_000

const sourceFiles = async (): Promise<string[]> =>
  (await readdir(SRC, { recursive: true, withFileTypes: true }))
    .filter(entry => entry.isFile() && entry.name.endsWith('.ts'))
    .map(entry => join(entry.parentPath, entry.name).slice(SRC.length + 1))
    .filter(path => !path.startsWith('lib/db/generated/'))

describe('the source', () => {
  it('accesses audit entries in a single file, which adds, reads and expires them but never changes one', async () => {
    const uses: string[] = []
    for (const path of await sourceFiles()) {
      const text = await readFile(join(SRC, path), 'utf8')
      for (const [, method] of text.matchAll(/auditEntry(?:\.(\w+))?/g)) uses.push(`${path}: ${method}`)
      if (/"AuditEntry"|auditEntries/.test(text)) uses.push(`${path}: by its table or through an organization`)
    }
    const store = 'identity/audit/audit.store.ts'
    expect(uses.sort()).toEqual([`${store}: create`, `${store}: deleteMany`, `${store}: findMany`])
    const [removal] = (await readFile(join(SRC, store), 'utf8')).match(/auditEntry\.deleteMany\(.*\)/) ?? []
    expect(removal).toContain('where: { createdAt: { lt: before } }')
  })
})

describe.each(databaseKinds)('audit log entries on $kind', kind => {
  const patchbay = runPatchbay({ kind })

  it('remain after their organization and account are deleted, in the installation’s log', async () => {
    const { db } = patchbay.services
    const operator = await signUp(patchbay.origin)
    const owner = await signUp(patchbay.origin)
    const organization = await db.organization.findFirstOrThrow({
      where: { memberships: { some: { userId: owner.userId } } },
    })
    await owner.create('/servers', { name: 'Gone soon' })
    const before = await readEntries(owner, `/organizations/${organization.id}/audit`)
    expect(before.map(({ action }) => action)).toEqual(['server.created', 'organization.created'])

    await owner.create('/organizations', { name: 'Another' })
    await owner.expectOk('DELETE', `/organizations/${organization.id}`, { confirm: organization.name })
    await db.user.delete({ where: { id: owner.userId } })

    const after = await readEntries(operator, '/audit', `&actorId=${owner.userId}`)
    expect(after.slice(-4).map(({ action }) => action)).toEqual([
      'server.created',
      'token.created',
      'organization.created',
      'user.signed_up',
    ])
    for (const { id, ...entry } of before) {
      const kept = after.find(other => other.id === id)
      expect(kept).toEqual({ ...entry, id, organizationId: null })
    }
    expect(after[0]).toMatchObject({ action: 'organization.removed', target: { name: organization.name } })
  })

  describe('past the retention time', () => {
    const writeAged = async (count: number, ageDays: number, now: number): Promise<void> => {
      await patchbay.services.db.auditEntry.createMany({
        data: Array.from({ length: count }, () => ({
          action: 'secret.set',
          targetType: 'aged',
          createdAt: new Date(now - ageDays * DAY_MS),
        })),
      })
    }
    const countAged = () => patchbay.services.db.auditEntry.count({ where: { targetType: 'aged' } })
    const clean = (log: AuditLog) => log.removeOld(new AbortController().signal)

    it('are removed, however many, while others stay', async () => {
      const { db } = patchbay.services
      let now = Date.now()
      await writeAged(1_001, 400, now)
      await writeAged(3, 364, now)
      const log = createAuditLog({ db, keptDays: 365, now: () => now })
      await clean(log)
      expect(await countAged()).toBe(3)
      now += 2 * DAY_MS
      await Promise.all([clean(log), clean(log)])
      expect(await countAged()).toBe(0)
      expect(await db.auditEntry.count()).toBeGreaterThan(0)
    })

    it('stay forever if the setting is 0', async () => {
      await writeAged(2, 40_000 / 4, Date.now())
      await clean(createAuditLog({ db: patchbay.services.db, keptDays: 0 }))
      expect(await countAged()).toBe(2)
      await clean(createAuditLog({ db: patchbay.services.db, keptDays: 365 }))
      expect(await countAged()).toBe(0)
    })

    it('are removed by the cleanup of a running installation after a year', async () => {
      const now = Date.now()
      await writeAged(2, 366, now)
      await writeAged(1, 300, now)
      await patchbay.services.upkeep.run()
      expect(await countAged()).toBe(1)
    })

    it('are left for the next cleanup if the process stops', async () => {
      await writeAged(2, 500, Date.now())
      const before = await countAged()
      await createAuditLog({ db: patchbay.services.db, keptDays: 365 }).removeOld(AbortSignal.abort())
      expect(await countAged()).toBe(before)
    })
  })

  it('accept text of any length and kind, and truncate it', async () => {
    const { db } = patchbay.services
    const long = `\u0000\ud800${'x'.repeat(10_000)}`
    await writeAudit(db, {
      action: 'secret.set',
      actor: { userId: 'someone', email: long, address: long },
      target: { type: 'text', id: 'long', name: long },
      change: { [long]: [long], list: Array.from({ length: 1_000 }, (_, index) => index) },
    })
    const stored = await db.auditEntry.findFirstOrThrow({ where: { targetId: 'long' } })
    expect(stored.targetName).toMatch(/^\ufffd\ufffdx{253}…$/)
    expect(JSON.stringify(stored).length).toBeLessThan(3_000)
    expect(stored.change).toMatchObject({ list: expect.arrayContaining([0, 99]) })
  })
})
