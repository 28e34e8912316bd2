import { expect, it, onTestFinished, vi } from 'vitest'
import { openDatabase } from '../../src/lib/db/client.ts'
import { databasesOfRun } from '../support/databases.ts'
import { startPatchbay } from '../support/process.ts'

vi.setConfig({ testTimeout: 60_000 })

const DAY_MS = 24 * 60 * 60 * 1_000

it.each(databasesOfRun)(
  'a start on $kind deletes old audit entries and expired rows, and finishes removals of servers',
  async ({ create }) => {
    const database = await create()
    onTestFinished(database.drop)
    const db = await openDatabase(database.target)
    onTestFinished(db.close)
    const entryOf = (days: number) => ({
      action: 'secret.set',
      targetType: 'server',
      targetName: `${days} days`,
      createdAt: new Date(Date.now() - days * DAY_MS),
    })
    await db.auditEntry.createMany({ data: [1, 29, 31, 400].map(entryOf) })
    await db.server.create({
      data: {
        name: 'Removed',
        removedAt: new Date(),
        organization: { create: { name: 'Us' } },
        owner: { create: { email: 'ada@example.com', passwordHash: 'x' } },
      },
    })

    const { id: organizationId } = await db.organization.findFirstOrThrow()
    const { id: userId } = await db.user.findFirstOrThrow()
    const ends = { past: new Date(Date.now() - DAY_MS), future: new Date(Date.now() + DAY_MS) }
    for (const [name, expiresAt] of Object.entries(ends)) {
      const invited = { email: `${name}@example.com`, role: 'viewer', tokenHash: name, expiresAt } as const
      await db.invitation.create({ data: { organizationId, ...invited } })
      await db.session.create({ data: { sidHash: name, data: {}, expiresAt } })
      const link = { email: 'ada@example.com', purpose: 'verify_email', tokenHash: name, expiresAt } as const
      await db.mailedLink.create({ data: { userId, ...link } })
    }

    await startPatchbay({ env: { DATABASE_URL: database.url, PATCHBAY_AUDIT_DAYS: '30' } })

    await vi.waitFor(
      async () => {
        const kept = await db.auditEntry.findMany({ orderBy: { createdAt: 'desc' } })
        expect(kept.map(({ targetName }) => targetName)).toEqual(['1 days', '29 days'])
        expect(await db.server.count()).toBe(0)
        expect(await db.session.findMany()).toMatchObject([{ sidHash: 'future' }])
        expect(await db.mailedLink.findMany()).toMatchObject([{ tokenHash: 'future' }])
        expect(await db.invitation.findMany()).toMatchObject([{ tokenHash: 'future' }])
      },
      { timeout: 20_000 },
    )
  },
)
