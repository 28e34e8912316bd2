import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { descriptionOf } from '../../imports/reading.ts'
import { newToolkit, review } from '../../imports/reviews/reviewing.ts'
import { runPatchbay, runUser } from '../../support/world.ts'

const Applied = z.object({ server: z.object({ id: z.string() }) })
const paths = { '/orders': { get: { operationId: 'listOrders' } } }
const withToken = {
  security: [{ token: [] }],
  components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
}

describe('the page of an import that updated tools', () => {
  const patchbay = runPatchbay()
  const ada = runUser(patchbay)

  it('says that new secrets must be bound, and that a typed one was not stored', async () => {
    const toolkitId = await newToolkit(ada)
    const importOnce = async (description: object, settings: { server: string | { newName: string } }) => {
      const { id } = await review(ada, toolkitId, { text: JSON.stringify(description) })
      await ada.expectOk('PATCH', `/imports/${id}`, { settings })
      const { body } = await ada.expectOk('POST', `/imports/${id}/apply`, {})
      return { id, server: Applied.parse(body).server.id }
    }
    const first = await importOnce(descriptionOf({ paths }), { server: { newName: 'Shop' } })
    const settings = { server: first.server, secrets: { token: 'plum-tree-17' } }
    const { id } = await importOnce(descriptionOf({ paths, ...withToken }), settings)
    const headers = { authorization: `Bearer ${ada.token}`, accept: 'text/html' }
    const page = await (await fetch(`${patchbay.origin}/toolkits/${toolkitId}/imports/${id}`, { headers })).text()
    expect(page).toContain('Servers keep the bindings of updated tools.')
    expect(page).toContain('Not stored, because no tool that was added needs them')
    expect(page).not.toContain('because no server was chosen')
  })
})
