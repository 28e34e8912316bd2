import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type OpenDatabase, openDatabase } from '../../../src/lib/db/client.ts'
import { isForeignKeyViolation } from '../../../src/lib/db/failures.ts'
import { databaseKinds, type TestDatabase } from '../../support/databases.ts'

const SOON = new Date('2999-01-01T00:00:00Z')

/** Creates an organization with at least one row of every kind that can belong to it. */
const fillOrganization = async (db: OpenDatabase, name: string) => {
  const user = await db.user.create({ data: { email: `${name}@example.com`, passwordHash: 'x' } })
  const organization = await db.organization.create({ data: { name } })
  const organizationId = organization.id
  await db.membership.create({ data: { organizationId, userId: user.id, role: 'owner' } })
  await db.invitation.create({
    data: { organizationId, email: 'guest@example.com', role: 'viewer', tokenHash: name, expiresAt: SOON },
  })
  await db.auditEntry.create({ data: { organizationId, action: 'made', targetType: 'organization' } })
  await db.oAuthClient.create({ data: { organizationId, clientId: name, metadata: {} } })
  const server = await db.server.create({ data: { organizationId, ownerId: user.id, name } })
  const serverId = server.id
  const toolkit = await db.toolkit.create({ data: { organizationId, title: name } })
  const snapshot = await db.toolkit.create({
    data: { organizationId, title: `${name} snapshot`, serverId, snapshotOfId: 'of another organization' },
  })
  for (const toolkitId of [toolkit.id, snapshot.id]) {
    await db.toolkitUse.create({ data: { serverId, toolkitId } })
    const tool = await db.tool.create({
      data: { toolkitId, name: 'call', definition: {} },
    })
    await db.toolSource.create({ data: { toolId: tool.id, key: 'GET /', base: {}, generator: 1 } })
    const instance = await db.instance.create({ data: { serverId, toolId: tool.id, name: `call_${toolkitId}` } })
    await db.binding.create({ data: { instanceId: instance.id, parameter: 'q', source: 'exposed' } })
  }
  await db.toolkitSource.create({ data: { toolkitId: toolkit.id, kind: 'openapi', settings: {}, sha256: 'x' } })
  const imported = { toolkitId: toolkit.id, kind: 'openapi', settings: {}, needs: [], toolkitUpdatedAt: SOON } as const
  const { id: importId } = await db.import.create({ data: { ...imported, createdById: user.id } })
  const lists = { tags: '[]', rules: '[]', findings: [], notes: [], globals: [], unsupported: [] }
  await db.importItem.create({
    data: { importId, position: 0, key: 'GET /', method: 'GET', path: '/', searchText: '/', ...lists },
  })
  await db.serverUser.create({ data: { serverId, userId: user.id } })
  await db.global.create({ data: { serverId, key: 'base', value: 'x', isSecret: false } })
  await db.upstream.create({ data: { serverId, name: 'up', transport: 'http', config: {} } })
  const call = { serverId, tool: 'call', startedAt: new Date(), durationMs: 1, requestBytes: 1, responseBytes: 1 }
  const grant = { userId: user.id, serverId, kind: 'Grant', payload: {} }
  await db.oAuthArtifact.create({ data: { ...grant, handleHash: name } })
  const link = { userId: user.id, email: user.email, tokenHash: name, expiresAt: SOON }
  await db.mailedLink.create({ data: { ...link, purpose: 'verify_email' } })
  await db.secondFactor.create({ data: { userId: user.id, secret: 'x', keyId: 'x' } })
  await db.recoveryCode.create({ data: { userId: user.id, codeHash: 'x' } })
  await db.externalIdentity.create({ data: { userId: user.id, issuer: 'https://id.example.com', subject: name } })
  await db.execution.create({ data: { id: name, outcome: 'ok', ...call } })
  await db.executionGap.create({ data: { serverId, missing: 1, from: SOON, to: SOON, reason: 'a test' } })
  return { user, organization, server, toolkit, snapshot }
}

/** Counts the rows of each table. */
const countAll = async (db: OpenDatabase) => ({
  users: await db.user.count(),
  organizations: await db.organization.count(),
  memberships: await db.membership.count(),
  invitations: await db.invitation.count(),
  // Entries without an organization belong to the installation, so they are not counted.
  auditEntries: await db.auditEntry.count({ where: { organizationId: { not: null } } }),
  oauthClients: await db.oAuthClient.count(),
  oauthArtifacts: await db.oAuthArtifact.count(),
  mailedLinks: await db.mailedLink.count(),
  secondFactors: await db.secondFactor.count(),
  recoveryCodes: await db.recoveryCode.count(),
  imports: await db.import.count(),
  importItems: await db.importItem.count(),
  toolSources: await db.toolSource.count(),
  toolkitSources: await db.toolkitSource.count(),
  identities: await db.externalIdentity.count(),
  toolkits: await db.toolkit.count(),
  tools: await db.tool.count(),
  servers: await db.server.count(),
  serverUsers: await db.serverUser.count(),
  toolkitUses: await db.toolkitUse.count(),
  globals: await db.global.count(),
  instances: await db.instance.count(),
  bindings: await db.binding.count(),
  upstreams: await db.upstream.count(),
  executions: await db.execution.count(),
  gaps: await db.executionGap.count(),
})

describe.each(databaseKinds)('deleting, on $kind', ({ create }) => {
  let database: TestDatabase
  let db: OpenDatabase
  beforeEach(async () => {
    database = await create()
    db = await openDatabase(database.target)
  })
  afterEach(async () => {
    await db.close()
    await database.drop()
  })

  it('an organization deletes everything it owns, and nothing else', async () => {
    const other = await fillOrganization(db, 'other')
    const alone = await countAll(db)
    const { organization, toolkit, user } = await fillOrganization(db, 'first')
    // The other organization's snapshot of our toolkit survives the deletion of the original.
    await db.toolkit.update({ where: { id: other.snapshot.id }, data: { snapshotOfId: toolkit.id } })
    await db.organization.delete({ where: { id: organization.id } })
    await db.user.delete({ where: { id: user.id } })
    expect(await countAll(db)).toEqual(alone)
    expect((await db.toolkit.findUnique({ where: { id: other.snapshot.id } }))?.snapshotOfId).toBe(toolkit.id)
    expect(await db.auditEntry.findMany({ where: { organizationId: null } })).toMatchObject([{ action: 'made' }])
  })

  it('a server deletes what belongs to it and keeps the toolkits it used', async () => {
    const { server, toolkit } = await fillOrganization(db, 'first')
    await db.server.delete({ where: { id: server.id } })
    expect(await countAll(db)).toMatchObject({ servers: 0, toolkits: 1, tools: 1, instances: 0, bindings: 0, gaps: 0 })
    expect(await db.toolkit.findUnique({ where: { id: toolkit.id } })).not.toBeNull()
  })

  it.each([
    ['a toolkit that a server uses', (made: Made) => db.toolkit.delete({ where: { id: made.toolkit.id } })],
    ['a user who owns a server', (made: Made) => db.user.delete({ where: { id: made.user.id } })],
    ['a tool that a server uses', (made: Made) => db.tool.deleteMany({ where: { toolkitId: made.toolkit.id } })],
  ])('%s is refused', async (_what, remove) => {
    const made = await fillOrganization(db, 'first')
    const before = await countAll(db)
    const refusal = await remove(made).then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(isForeignKeyViolation(refusal)).toBe(true)
    expect(await countAll(db)).toEqual(before)
  })
})

type Made = Awaited<ReturnType<typeof fillOrganization>>
