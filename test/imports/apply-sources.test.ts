import { describe, expect, it } from 'vitest'
import { ImportReport } from '../../src/imports/apply/import-report.ts'
import { connect } from '../servers/mcp.ts'
import { databasesOfRun } from '../support/databases.ts'
import { during, runFakeApi, runPatchbay } from '../support/world.ts'
import { collectionOf } from './postman-collection.ts'
import { newToolkit, review } from './reviews/reviewing.ts'

const TOKEN = 'sk-live-4f9XbQ27TzLmWc81RyVn05Ke'

const Report = ImportReport.extend({ server: ImportReport.shape.server.nullable() })

describe.each(databasesOfRun)('a source that is read and applied on $kind', kind => {
  const patchbay = runPatchbay({ kind })
  const builder = during(() => patchbay.person())
  const api = runFakeApi()

  /** Imports all of a source into a new server. Returns the report, and a client of the server. */
  const importAll = async (source: { kind: string; text: string }) => {
    const { id } = await review(builder, await newToolkit(builder), source)
    const settings = { server: { newName: 'Imported' } }
    await builder.expectOk('PATCH', `/imports/${id}`, { select: { filter: {} }, settings })
    const report = Report.parse((await builder.expectOk('POST', `/imports/${id}/apply`)).body)
    return { report, client: await connect(`${patchbay.origin}/s/${report.server?.id}`, builder.token) }
  }

  it('sends the requests of a Postman collection with the values of its variables', async () => {
    const item = [{ name: 'Get order', request: { method: 'GET', url: '{{baseUrl}}/orders/:id?by={{tenant}}' } }]
    const auth = { type: 'bearer', bearer: [{ key: 'token', value: '{{token}}' }] }
    const variable = [
      { key: 'baseUrl', value: `${api.origin}/v1` },
      { key: 'token', value: TOKEN },
      { key: 'tenant', value: 'acme' },
    ]
    const collection = collectionOf(item, { auth, variable })
    const { report, client } = await importAll({ kind: 'postman', text: JSON.stringify(collection) })
    expect(report).toMatchObject({ missing: [], discarded: [] })
    const before = api.seen.length
    await client.callTool({ name: 'get_order', arguments: { id: '7' } })
    expect(api.seen.slice(before)).toMatchObject([
      { url: '/v1/orders/7?by=acme', headers: { authorization: `Bearer ${TOKEN}` } },
    ])
  })

  it('sends a cURL command with its secret, to nowhere but where the command sent it', async () => {
    const text = `curl ${api.origin}/users/12 -H 'Authorization: Bearer ${TOKEN}'`
    const { report, client } = await importAll({ kind: 'curl', text })
    expect(report.server?.globals).toMatchObject([{ secret: true, origins: [api.origin] }])
    const before = api.seen.length
    await client.callTool({ name: 'get_user', arguments: { user_id: 13 } })
    expect(api.seen.slice(before)).toMatchObject([{ url: '/users/13', headers: { authorization: `Bearer ${TOKEN}` } }])
    expect(JSON.stringify(await patchbay.db.import.findMany())).not.toContain(TOKEN)
  })

  it('notes in the audit log where a source came from without the query, which may have a token', async () => {
    const text = `curl ${api.origin}/users/12`
    const { id } = await review(builder, await newToolkit(builder), { kind: 'curl', text })
    const sourceUrl = `${api.origin}/api.yaml?private_token=${TOKEN}`
    await patchbay.db.import.update({ where: { id }, data: { sourceUrl } })
    await builder.expectOk('POST', `/imports/${id}/apply`)
    const logged = JSON.stringify(await patchbay.db.auditEntry.findMany({ where: { action: 'toolkit.imported' } }))
    expect(logged).toContain(`${api.origin}/api.yaml`)
    expect(logged).not.toContain(TOKEN)
  })

  it('discards the secrets that are found in a source without a server', async () => {
    const text = `curl ${api.origin}/users/12 -H 'Authorization: Bearer ${TOKEN}'`
    const { id } = await review(builder, await newToolkit(builder), { kind: 'curl', text })
    const report = Report.parse((await builder.expectOk('POST', `/imports/${id}/apply`)).body)
    expect(report).toMatchObject({ created: [{ name: 'get_user' }], server: null, discarded: [expect.any(String)] })
    expect(await patchbay.db.import.findUnique({ where: { id } })).toMatchObject({ secrets: null, keyId: null })
  })
})
