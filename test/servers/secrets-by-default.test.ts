import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { signInToPages } from '../support/signed-in.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'
import { REAL_PARAMETERS } from '../tools/real-parameters.ts'
import { connect } from './mcp.ts'

const Instances = z.object({ items: z.array(z.object({ bindings: z.record(z.string(), z.unknown()) })) })

type Parameter = (typeof REAL_PARAMETERS)[number] & { variable: string }

/** Every parameter has a name that says nothing, so that only its place in the request counts. */
const PARAMETERS: readonly Parameter[] = REAL_PARAMETERS.map((one, index) => ({ ...one, variable: `v${index + 1}` }))

/** Returns the fields of the tool editor for a tool that has these parameters in one place of its request. */
const formFor = (place: Parameter['place'], parameters: readonly Parameter[], origin: string) => {
  const written = (mark: string, separator: string) =>
    parameters.map(({ name, variable }) => `${name}${mark}{{${variable}}}`).join(separator)
  const json = Object.fromEntries(parameters.map(({ name, variable }) => [name, `{{${variable}}}`]))
  const fields = { name: `in_${place}`, method: 'POST', url: `${origin}/`, headers: '', body: '' }
  switch (place) {
    case 'header':
      return { ...fields, headers: written(': ', '\n') }
    case 'cookie':
      return { ...fields, headers: `Cookie: ${written('=', '; ')}` }
    case 'query':
      return { ...fields, url: `${origin}/?${written('=', '&')}` }
    case 'body':
      return { ...fields, headers: 'Content-Type: application/json', body: JSON.stringify(json) }
    case 'path':
      return { ...fields, url: `${origin}/${parameters.map(({ variable }) => `{{${variable}}}`).join('/')}` }
  }
}

/** A tool cannot send these: they belong to the connection. */
const RESERVED = new Set(['Proxy-Authorization', 'Sec-WebSocket-Key'])

describe('parameters of a tool made in the editor and added to a server', () => {
  const patchbay = runPatchbay()
  const fake = runFakeApi()
  const ada = runUser(patchbay)

  /** Makes a tool with these parameters and adds it to a new public server, as its builder does by default. */
  const addTool = async (place: Parameter['place'], parameters: readonly Parameter[]) => {
    const page = await signInToPages(patchbay.origin, ada.email)
    await page.get('/toolkits/new-tool')
    const form = { ...formFor(place, parameters, fake.origin), toolkitTitle: place }
    const saved = await page.submit('/toolkits/new-tool', form)
    const [, toolId = ''] = /\/tools\/([\w-]+)/.exec(saved.location ?? '') ?? []
    await page.get(`/tools/${toolId}`)
    const added = await page.submit(`/tools/${toolId}/offer`, { server: 'new', serverName: place })
    const [, serverId = ''] = /\/servers\/([\w-]+)/.exec(added.location ?? '') ?? []
    await ada.expectOk('PATCH', `/servers/${serverId}`, { access: 'public' })
    const { items } = Instances.parse((await ada.expectOk('GET', `/servers/${serverId}/instances`)).body)
    return { serverId, bindings: items[0]?.bindings ?? {} }
  }

  it.each(['header', 'cookie', 'query', 'body', 'path'] as const)(
    'come from the model if they are in the %s, except secrets',
    async place => {
      const parameters = PARAMETERS.filter(one => one.place === place && !RESERVED.has(one.name))
      const { serverId, bindings } = await addTool(place, parameters)
      const kept = parameters.filter(({ rule }) => rule === 'kept')
      const others = parameters.filter(({ rule }) => rule !== 'kept')
      expect(Object.keys(bindings).sort()).toEqual(kept.map(({ variable }) => variable).sort())

      const client = await connect(`${patchbay.origin}/s/${serverId}`)
      const listed = async () => (await client.listTools()).tools.find(({ name }) => name === `in_${place}`)
      // It is not listed while a secret has no value.
      expect((await listed()) === undefined).toBe(kept.length > 0)
      for (const { variable } of kept) {
        const secret = { value: `value of ${variable}`, secret: true, origins: [fake.origin] }
        await ada.expectOk('PUT', `/servers/${serverId}/globals/${variable}`, secret)
      }
      await expect.poll(listed).toBeDefined()
      const { properties = {} } = (await listed())?.inputSchema ?? {}
      expect(Object.keys(properties).sort()).toEqual(others.map(one => one.variable).sort())
    },
  )
})
