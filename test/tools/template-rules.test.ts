import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { callText, connect } from '../servers/mcp.ts'
import { makeServer } from '../support/api-client.ts'
import { databasesOfRun } from '../support/databases.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'

const Lint = z.object({
  findings: z.array(z.object({ rule: z.string(), field: z.string(), message: z.string(), remedy: z.string() })),
})
const ServerLint = z.object({ tools: z.array(z.object({ name: z.string() }).and(Lint)) })
const Definition = z.record(z.string(), z.unknown())

const type = (value: string) => ({ name: 'Content-Type', value })
const HOSTILE = '</a>; x=1'

describe.each(databasesOfRun)('a tool saved before values were encoded in XML and cookies, on $kind', kind => {
  const patchbay = runPatchbay({ kind })
  const fake = runFakeApi()
  const ada = runUser(patchbay)
  const bob = runUser(patchbay)

  const tool = (name: string, parts: object) => ({ name, method: 'POST', url: `${fake.origin}/`, ...parts })
  const withXml = () => tool('xml', { headers: [type('application/xml')], body: '<a>{{x}}</a>' })
  const CDATA = { headers: [type('text/xml')], body: '<a><![CDATA[{{x}}]]></a>' }

  /** Writes a tool's row as earlier versions did. `parts` are fields that can no longer be saved. */
  const age = async (id: string, parts: object = {}): Promise<void> => {
    const row = await patchbay.db.tool.findUniqueOrThrow({ where: { id } })
    const { templateRules, ...definition } = Definition.parse(row.definition)
    expect(templateRules).toBe(2)
    await patchbay.db.tool.update({
      where: { id },
      data: { definition: JSON.parse(JSON.stringify({ ...definition, ...parts })) },
    })
  }

  const bodyOf = async (url: string, name: string): Promise<string> => {
    const client = await connect(url)
    await callText(client, name, { x: HOSTILE })
    await client.close()
    return fake.seen.at(-1)?.body ?? ''
  }

  /** Creates a server with aged tools: they are saved, aged, and only then added. */
  const withAged = async (definitions: readonly ReturnType<typeof tool>[], parts: Record<string, object> = {}) => {
    const { serverId, toolkitId, url } = await makeServer(ada, [])
    const ids: Record<string, string> = {}
    for (const definition of definitions) {
      const { name } = definition
      const { id } = await ada.create(`/toolkits/${toolkitId}/tools`, definition)
      await age(id, parts[name])
      await ada.create(`/servers/${serverId}/instances`, { toolId: id, name })
      ids[name] = id
    }
    return { serverId, toolkitId, url, ids }
  }

  const rulesOf = async (path: string): Promise<string[]> =>
    Lint.parse((await ada.expectOk('GET', path)).body).findings.map(({ rule }) => rule)

  it('keeps its requests, even those that can no longer be saved, until it is saved again', async () => {
    const { url, ids } = await withAged([withXml(), tool('cdata', {})], { cdata: CDATA })
    expect(await bodyOf(url, 'xml')).toBe('<a></a>; x=1</a>')
    expect(await bodyOf(url, 'cdata')).toBe('<a><![CDATA[</a>; x=1]]></a>')
    await ada.expectOk('PATCH', `/tools/${ids.xml}`, { description: 'Sends XML.' })
    expect(await bodyOf(url, 'xml')).toBe('<a>&lt;/a&gt;; x=1</a>')
    const refused = await ada.send('PATCH', `/tools/${ids.cdata}`, { description: 'Sends XML.' })
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([400, expect.stringContaining('CDATA section')])
    expect(await bodyOf(url, 'cdata')).toBe('<a><![CDATA[</a>; x=1]]></a>')
  })

  it('is a finding, if its requests would change', async () => {
    const { serverId, ids } = await withAged([
      withXml(),
      tool('whole_xml', { headers: [type('image/svg+xml')], body: '{{x}}' }),
      tool('fixed_xml', { headers: [type('text/xml')], body: '<a/>' }),
      tool('cookie', { headers: [{ name: 'cookie', value: 'a={{x}}' }] }),
      tool('whole_cookie', { headers: [{ name: 'cookie', value: '{{x}}' }] }),
      tool('multipart', { headers: [type('multipart/mixed; boundary=b')], body: '--b\n\n{{x}}\n--b--' }),
      tool('whole_multipart', { headers: [type('multipart/mixed; boundary=b')], body: '{{x}}' }),
      tool('json', { body: '{"x": "{{x}}"}' }),
      tool('plain', { headers: [type('text/plain')], body: '{{x}}' }),
    ])
    const { tools } = ServerLint.parse((await ada.expectOk('GET', `/servers/${serverId}/lint`)).body)
    const found = tools.flatMap(({ name, findings }) =>
      findings.filter(({ rule }) => rule === 'unencoded-values').map(({ field }) => `${name} ${field}`),
    )
    expect(found.sort()).toEqual(['cookie headers', 'multipart body', 'whole_xml body', 'xml body'])
    expect(await rulesOf(`/tools/${ids.xml}/lint`)).toContain('unencoded-values')
    expect(await rulesOf(`/tools/${ids.json}/lint`)).not.toContain('unencoded-values')
    await ada.expectOk('PATCH', `/tools/${ids.xml}`, {})
    expect(await rulesOf(`/tools/${ids.xml}/lint`)).not.toContain('unencoded-values')
  })

  it('keeps its requests in a snapshot, until the update with the saved tool is accepted', async () => {
    const { toolkitId, ids } = await withAged([withXml(), tool('json', { body: '{"x": "{{x}}"}' })])
    await ada.expectOk('PATCH', `/toolkits/${toolkitId}`, { visibility: 'public' })
    const server = await bob.create('/servers', { name: 'Bob’s', maxResponseTokens: 0, access: 'public' })
    await bob.expectOk('PUT', `/servers/${server.id}/toolkits/${toolkitId}`)
    await bob.create(`/servers/${server.id}/instances`, { toolId: ids.xml, name: 'xml' })
    const url = `${patchbay.origin}/s/${server.id}`
    expect(await bodyOf(url, 'xml')).toBe('<a></a>; x=1</a>')
    const { body } = await bob.expectOk('GET', `/servers/${server.id}/lint`)
    expect(ServerLint.parse(body).tools[0]?.findings.map(({ remedy }) => remedy)).toContain(
      'Accept the update of its toolkit once the toolkit’s owner has saved it again.',
    )

    const Update = z.object({ version: z.string(), changed: z.array(z.unknown()) })
    const Used = z.object({ items: z.tuple([z.object({ snapshot: z.object({ update: Update.nullable() }) })]) })
    const findUpdate = async () =>
      Used.parse((await bob.expectOk('GET', `/servers/${server.id}/toolkits`)).body).items[0].snapshot.update
    await ada.expectOk('PATCH', `/tools/${ids.json}`, {})
    expect(await findUpdate()).toBeNull()
    await ada.expectOk('PATCH', `/tools/${ids.xml}`, {})
    const update = await findUpdate()
    expect(update?.changed).toEqual([
      { name: 'xml', fields: ['templateRules'], changes: [{ field: 'templateRules', from: 1, to: 2 }] },
    ])
    expect(await bodyOf(url, 'xml')).toBe('<a></a>; x=1</a>')
    await bob.expectOk('PUT', `/servers/${server.id}/toolkits/${toolkitId}?version=${update?.version}`)
    expect(await bodyOf(url, 'xml')).toBe('<a>&lt;/a&gt;; x=1</a>')
  })
})
