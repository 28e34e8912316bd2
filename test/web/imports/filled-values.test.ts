import { describe, expect, it } from 'vitest'
import { descriptionOf } from '../../imports/reading.ts'
import { newToolkit, review } from '../../imports/reviews/reviewing.ts'
import { runPatchbay, runUser } from '../../support/world.ts'

const withSecrets = (...keys: string[]) => ({
  text: JSON.stringify(
    descriptionOf({
      paths: { '/orders': { get: { operationId: 'listOrders' } } },
      security: [Object.fromEntries(keys.map(key => [key, []]))],
      components: {
        securitySchemes: Object.fromEntries(keys.map(name => [name, { type: 'apiKey', in: 'header', name }])),
      },
    }),
  ),
})
const SET = 'The servers that use these tools have a value.'
const UNSET = 'No value yet.'

describe('the values of a source that is imported again', () => {
  const patchbay = runPatchbay()
  const ada = runUser(patchbay)

  it('are missing only where a server that uses the tools has none', async () => {
    const toolkitId = await newToolkit(ada)
    const headers = { authorization: `Bearer ${ada.token}`, accept: 'text/html' }
    const open = async (id: string) =>
      (await fetch(`${patchbay.origin}/toolkits/${toolkitId}/imports/${id}?view=access`, { headers })).text()
    const first = await review(ada, toolkitId, withSecrets('key'))
    const settings = { server: { newName: 'Shop' }, secrets: { key: 'plum-tree-17' } }
    expect(await open(first.id)).toContain('1 missing')
    await ada.expectOk('PATCH', `/imports/${first.id}`, { settings })
    await ada.expectOk('POST', `/imports/${first.id}/apply`, {})

    const again = await review(ada, toolkitId, withSecrets('key', 'pin'))
    const page = await open(again.id)
    expect(page).toContain('1 missing')
    expect(page.split(SET)).toHaveLength(2)
    expect(page.split(UNSET)).toHaveLength(2)
    await ada.expectOk('PATCH', `/imports/${again.id}`, { settings: { server: { newName: 'Another' } } })
    expect(await open(again.id)).toContain('2 missing')
  })
})
