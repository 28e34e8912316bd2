import { Client } from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { toPgConfig } from '../../src/lib/db/postgres.ts'
import { openRawSqlite } from '../../src/lib/db/sqlite.ts'
import type { DatabaseTarget } from '../../src/lib/db/target.ts'
import { createSealing } from '../../src/lib/process/sealing.ts'
import { signUp } from '../support/api-client.ts'
import { startTestApp } from '../support/app.ts'
import { databaseKinds } from '../support/databases.ts'
import { migrateUntil } from '../support/migrate-until.ts'
import { MASTER_KEY } from '../support/setup-token.ts'
import { runFakeApi } from '../support/world.ts'

const SECRET = 'sk-canary-4711'
const SERVER_ID = '0b9d3c8e-6d0f-4f6e-9a53-3a1f0a8c0001'
const INSTANCE_ID = '01a21ad5-93d4-732b-b173-6e2a35105001'

const run = async (target: DatabaseTarget, sql: string): Promise<void> => {
  if (target.kind === 'sqlite') {
    const connection = openRawSqlite(target, { busyTimeoutMs: 1_000 })
    connection.exec(sql)
    connection.close()
    return
  }
  const client = new Client(toPgConfig(target))
  await client.connect()
  await client.query(sql)
  await client.end()
}

/** Returns the SQL that inserts a row. */
const insert = (table: string, row: Record<string, string | boolean>): string => {
  const columns = [...Object.keys(row), 'updatedAt'].map(name => `"${name}"`)
  const values = Object.values(row).map(value => (typeof value === 'string' ? `'${value}'` : String(value)))
  return `INSERT INTO "${table}" (${columns.join(', ')}) VALUES (${[...values, 'CURRENT_TIMESTAMP'].join(', ')});`
}

/** The rows of a server whose tool sends a secret to a base URL from a global, as the version before stored them. */
const rowsBefore = (origin: string): string => {
  const sealed = createSealing([MASTER_KEY]).seal(SECRET, {
    purpose: 'server-global',
    ownerId: SERVER_ID,
    name: 'carrier_token',
  })
  const definition = {
    method: 'GET',
    url: '{{url:base}}/track',
    headers: [{ name: 'x-token', value: '{{token}}' }],
    parameters: {},
  }
  const binding = { instanceId: INSTANCE_ID, source: 'server' }
  return [
    insert('User', { id: 'ada', email: 'ada@example.com', passwordHash: '' }),
    insert('Organization', { id: 'carriers', name: 'Carriers' }),
    insert('Membership', { id: 'm', organizationId: 'carriers', userId: 'ada', role: 'owner' }),
    insert('Server', {
      id: SERVER_ID,
      organizationId: 'carriers',
      ownerId: 'ada',
      name: 'Desk',
      access: 'organization',
    }),
    insert('Toolkit', { id: 'kit', organizationId: 'carriers', title: 'Kit' }),
    insert('ToolkitUse', { id: 'use', serverId: SERVER_ID, toolkitId: 'kit' }),
    insert('Tool', { id: 'track', toolkitId: 'kit', name: 'track', definition: JSON.stringify(definition) }),
    insert('Instance', { id: INSTANCE_ID, serverId: SERVER_ID, toolId: 'track', name: 'track' }),
    insert('Binding', { id: 'b1', ...binding, parameter: 'token', value: '"carrier_token"' }),
    insert('Binding', { id: 'b2', ...binding, parameter: 'base', value: '"carrier_url"' }),
    insert('Global', { id: 'g1', serverId: SERVER_ID, key: 'carrier_url', isSecret: false, value: origin }),
    insert('Global', {
      id: 'g2',
      serverId: SERVER_ID,
      key: 'carrier_token',
      isSecret: true,
      value: sealed.text,
      keyId: sealed.keyId,
    }),
  ].join('\n')
}

describe.each(databaseKinds)('a $kind database of the version before secrets had origins', ({ createEmpty }) => {
  const carrier = runFakeApi()

  it('serves its tools unchanged after the upgrade, and their secrets go nowhere else', async () => {
    const database = await createEmpty()
    onTestFinished(database.drop)
    await migrateUntil(database, '_secret_origins')
    await run(database.target, rowsBefore(carrier.origin))

    const patchbay = await startTestApp({ databaseUrl: database.url })
    onTestFinished(patchbay.close)
    const builder = await signUp(patchbay.origin)
    const member = { organizationId: 'carriers', userId: builder.userId, role: 'builder' } as const
    await patchbay.services.db.membership.create({ data: member })
    const call = async () => (await builder.expectOk('POST', `/instances/${INSTANCE_ID}/call`, { arguments: {} })).body
    expect(await call()).not.toHaveProperty('isError')
    expect(carrier.seen).toMatchObject([{ url: '/track', headers: { 'x-token': SECRET } }])
    const globals = await builder.expectOk('GET', `/servers/${SERVER_ID}/globals`)
    expect(globals.body).toMatchObject({ items: [{ key: 'carrier_url' }, { origins: [carrier.origin] }] })

    await builder.expectOk('PUT', `/servers/${SERVER_ID}/globals/carrier_url`, { value: 'http://127.0.0.1:9' })
    expect(JSON.stringify(await call())).toContain('carrier_token may not be sent to http://127.0.0.1:9')
  })
})
