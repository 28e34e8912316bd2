import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { descriptionOf } from '../../imports/reading.ts'
import { newToolkit, review } from '../../imports/reviews/reviewing.ts'
import { runPatchbay, runUser } from '../../support/world.ts'

const Applied = z.object({ server: z.object({ id: z.string() }), created: z.array(z.object({ id: z.string() })) })
const paths = { '/orders': { get: { operationId: 'listOrders' } } }
const withToken = {
  security: [{ token: [] }],
  components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
}

describe('the page of an import that updated tools', () => {
  const patchbay = runPatchbay()
  const ada = runUser(patchbay)

  it('says on which server the new secret must be filled in, and that a typed one was stored on the chosen one', async () => {
    const toolkitId = await newToolkit(ada)
    const importOnce = async (description: object, settings: object) => {
      const { id } = await review(ada, toolkitId, { text: JSON.stringify(description) })
      await ada.expectOk('PATCH', `/imports/${id}`, { settings })
      return { id, body: (await ada.expectOk('POST', `/imports/${id}/apply`, {})).body }
    }
    const pageOf = async (id: string) => {
      const headers = { authorization: `Bearer ${ada.token}`, accept: 'text/html' }
      return (await fetch(`${patchbay.origin}/toolkits/${toolkitId}/imports/${id}`, { headers })).text()
    }
    const first = await importOnce(descriptionOf({ paths }), { server: { newName: 'Shop' } })
    const { server, created } = Applied.parse(first.body)
    const desk = await ada.create('/servers', { name: 'Desk & Co' })
    await ada.create(`/servers/${desk.id}/instances`, { toolId: created[0]?.id ?? '', name: 'list_orders' })

    const settings = { server: server.id, secrets: { token: 'plum-tree-17' } }
    const { id } = await importOnce(descriptionOf({ paths, ...withToken }), settings)
    const page = await pageOf(id)
    expect(page).toContain(
      `<a href="/servers/${desk.id}/tools/values"><code>token</code></a> (secret) on <bdi>Desk &amp; Co`,
    )
    expect(page).not.toContain(`/servers/${server.id}/tools/values`)
    expect(page).toContain('has these tools already')
    expect(page).not.toContain('Not stored')
  })
})
