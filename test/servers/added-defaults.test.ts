import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { makeServer } from '../support/api-client.ts'
import { databasesOfRun } from '../support/databases.ts'
import { signInToPages, textOf } from '../support/signed-in.ts'
import { type Person, runFakeApi, runPatchbay } from '../support/world.ts'

const SECRET = 'sk-canary-4711'

const Lint = z.object({
  tools: z.array(z.object({ findings: z.array(z.object({ rule: z.string(), parameter: z.string().nullable() })) })),
})
const Instance = z.looseObject({ id: z.string(), bindings: z.looseObject({}) })

describe.each(databasesOfRun)('default bindings that a tool of a server gets later, on $kind', kind => {
  const patchbay = runPatchbay({ kind })
  const carrier = runFakeApi()
  let admin: Person
  /** The owner of a public toolkit in another organization. */
  let stranger: Person
  beforeAll(async () => {
    admin = await patchbay.person()
    stranger = await patchbay.person()
  })

  const withDefaults = () => ({
    url: `${carrier.origin}/track?api_key={{api_key}}&region={{region}}&v={{v}}`,
    parameters: {
      api_key: { binding: { source: 'server', key: 'carrier_key', secret: true } },
      region: { binding: { source: 'server', key: 'region', secret: false } },
      v: { binding: { source: 'instance', value: '2' } },
    },
  })
  /** Adds a tool without parameters to a server that has the globals, and then changes the tool. */
  const changeTool = async (author: Person) => {
    const { serverId } = await makeServer(admin, [], { server: { organizationId: admin.organizationId } })
    const put = (key: string, global: object) => admin.expectOk('PUT', `/servers/${serverId}/globals/${key}`, global)
    await put('carrier_key', { value: SECRET, secret: true, origins: [carrier.origin] })
    await put('region', { value: 'internal-eu' })
    const toolkit = await author.create('/toolkits', { title: 'Carrier', visibility: 'public' })
    const tool = { name: 'track', description: 'Tracks a parcel.', method: 'GET', url: `${carrier.origin}/track` }
    const { id: toolId } = await author.create(`/toolkits/${toolkit.id}/tools`, tool)
    await admin.expectOk('PUT', `/servers/${serverId}/toolkits/${toolkit.id}`)
    const { id } = await admin.create(`/servers/${serverId}/instances`, { toolId, name: 'track' })
    await author.expectOk('PATCH', `/tools/${toolId}`, withDefaults())
    return { serverId, toolId, id, sourcePath: `/servers/${serverId}/sources/${toolkit.id}` }
  }
  const bindingsOf = async (id: string) =>
    Instance.parse((await admin.expectOk('GET', `/instances/${id}`)).body).bindings
  const findingsOn = async (serverId: string) => {
    const { tools } = Lint.parse((await admin.expectOk('GET', `/servers/${serverId}/lint`)).body)
    return tools.flatMap(({ findings }) =>
      findings.flatMap(({ rule, parameter }) =>
        rule === 'default-not-bound' || rule === 'secret-from-model' ? `${rule}: ${parameter}` : [],
      ),
    )
  }
  const NOT_BOUND = ['secret-from-model: api_key', 'default-not-bound: region', 'default-not-bound: v']
  const BOUND = {
    api_key: { source: 'server', value: 'carrier_key' },
    region: { source: 'server', value: 'region' },
    v: { source: 'instance', value: '2' },
  }

  it('send nothing of the server after an update of another organization, and are listed until somebody decides', async () => {
    const { serverId, id, sourcePath } = await changeTool(stranger)
    const page = await signInToPages(patchbay.origin, admin.email)
    const { html } = await page.get(sourcePath)
    expect(textOf(html)).not.toContain('Values to bind')
    const version = /name="version" value="([^"]*)"/.exec(html)?.[1] ?? ''
    const accepted = await page.submit(sourcePath, { version })
    const after = textOf((await page.get(accepted.location ?? '')).html)
    expect(after).toContain('Update accepted')
    expect(after).toContain('track api_key by default: the secret &quot;carrier_key&quot;')
    expect(after).toContain('track region by default: the global &quot;region&quot;')
    expect(after).toContain('track v by default: the fixed value &quot;2&quot;')
    expect(await findingsOn(serverId)).toEqual(NOT_BOUND)

    expect(await bindingsOf(id)).toEqual({})
    const args = { api_key: 'mine', region: 'eu', v: '1' }
    await admin.expectOk('POST', `/instances/${id}/call`, { arguments: args })
    expect(carrier.seen.at(-1)).toMatchObject({ url: '/track?api_key=mine&region=eu&v=1' })

    await admin.expectOk('PATCH', `/instances/${id}`, { bindings: BOUND })
    expect(textOf((await page.get(sourcePath)).html)).not.toContain('Values to bind')
    expect(await findingsOn(serverId)).toEqual([])
    await admin.expectOk('POST', `/instances/${id}/call`, { arguments: {} })
    expect(carrier.seen.at(-1)).toMatchObject({ url: `/track?api_key=${SECRET}&region=internal-eu&v=2` })
  })

  it('are listed on servers that use a changed tool of their own organization', async () => {
    const { serverId, toolId, id, sourcePath } = await changeTool(admin)
    const page = await signInToPages(patchbay.origin, admin.email)
    expect(textOf((await page.get(sourcePath)).html)).toContain('track region by default')
    expect(await findingsOn(serverId)).toEqual(NOT_BOUND)
    const tool = textOf((await page.get(`/servers/${serverId}/tools/${id}`)).html)
    expect(tool).toContain('By default, the value is the global &quot;region&quot;.')
    expect(tool).toContain('For example carrier_key')
    const editor = textOf((await page.get(`/tools/${toolId}`)).html)
    expect(editor).toContain('as track From the model there, because it has no binding yet: api_key, region, v .')
  })

  it('are no longer listed once the model is to supply the values', async () => {
    const { serverId, toolId, id, sourcePath } = await changeTool(admin)
    const page = await signInToPages(patchbay.origin, admin.email)
    const path = `/servers/${serverId}/tools/${id}`
    await page.get(path)
    expect((await page.submit(path, { name: 'track' })).status).toBe(303)
    expect(textOf((await page.get(sourcePath)).html)).not.toContain('Values to bind')
    expect(textOf((await page.get(path)).html)).not.toContain('By default, the value is')
    expect(textOf((await page.get(`/tools/${toolId}`)).html)).not.toContain('has no binding yet')
    expect(await findingsOn(serverId)).toEqual(['secret-from-model: api_key'])
  })

  it('are bound where the tool is added afterwards', async () => {
    const { serverId, toolId } = await changeTool(admin)
    const { id } = await admin.create(`/servers/${serverId}/instances`, { toolId, name: 'again' })
    expect(await bindingsOf(id)).toEqual(BOUND)
    expect(await findingsOn(serverId)).toEqual(NOT_BOUND)
  })
})
