import { beforeAll, describe, expect, it } from 'vitest'
import { runPatchbay, runUser } from '../support/world.ts'

const TOOL = { name: 'tool', method: 'POST', url: 'https://api.example.com/items' }

/** Returns a schema whose JSON has this many bytes. */
const schemaOf = (bytes: number) => {
  const schema = { type: 'object', description: '' }
  return { ...schema, description: 'x'.repeat(bytes - JSON.stringify(schema).length) }
}

describe('the size of what a toolkit stores', () => {
  const patchbay = runPatchbay()
  let toolkitId: string
  const ada = runUser(patchbay)
  beforeAll(async () => {
    toolkitId = (await ada.create('/toolkits', { title: 'Toolkit' })).id
  })
  const create = (parts: object) => ada.send('POST', `/toolkits/${toolkitId}/tools`, { ...TOOL, ...parts })

  it.each(['inputSchema', 'outputSchema'])(
    'allows an %s of 64 KiB, and rejects a longer one with the limit',
    async field => {
      expect((await create({ name: field, [field]: schemaOf(65_536) })).status).toBe(201)
      expect(await create({ name: 'long', [field]: schemaOf(65_537) })).toMatchObject({
        status: 400,
        body: { errors: [{ path: field, message: expect.stringContaining('65536 bytes') }] },
      })
    },
  )

  it('rejects a tool of more than 256 KiB in total, new or changed, with the limit', async () => {
    const refusal = { status: 400, body: { detail: expect.stringContaining('262144 bytes') } }
    const tool = await ada.create(`/toolkits/${toolkitId}/tools`, { ...TOOL, name: 'large', body: 'é'.repeat(130_000) })
    expect(await ada.send('PATCH', `/tools/${tool.id}`, { description: 'é'.repeat(5_000) })).toMatchObject(refusal)
    expect(await create({ name: 'larger', body: 'é'.repeat(132_000) })).toMatchObject(refusal)
  })

  it('allows 2,000 tools in a toolkit, and rejects one more with the limit', async () => {
    const toolkit = await ada.create('/toolkits', { title: 'Full' })
    const definition = { method: 'GET', url: TOOL.url, headers: [], parameters: {} }
    const rows = Array.from({ length: 1_999 }, (_, at) => ({ toolkitId: toolkit.id, name: `t${at}`, definition }))
    await patchbay.services.db.tool.createMany({ data: rows })
    const add = (name: string) => ada.send('POST', `/toolkits/${toolkit.id}/tools`, { ...TOOL, name })
    expect((await add('last')).status).toBe(201)
    expect(await add('more')).toMatchObject({ status: 422, body: { detail: expect.stringContaining('2000') } })
  })
})
