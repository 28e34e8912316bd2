import { describe, expect, it } from 'vitest'
import { runPatchbay } from '../../support/world.ts'
import { collectionOf } from '../postman-collection.ts'
import { descriptionOf } from '../reading.ts'
import { newToolkit, review, reviewFiles } from './reviewing.ts'

const NOTHING = 'There are no operations in'

describe('a source without operations', () => {
  const patchbay = runPatchbay()

  it.each([
    ['an API description', descriptionOf({}), `${NOTHING} empty.json. It was read as OpenAPI 3.1.0, which has them`],
    ['one with webhooks only', descriptionOf({ webhooks: { paid: { post: {} } } }), 'Webhooks, which the API sends,'],
    ['a Postman collection', collectionOf([]), 'There are no requests in empty.json. A Postman collection'],
    ['a HAR file', { log: { entries: [] } }, 'There are no requests in empty.json. A HAR file has its requests under'],
  ])('fails, and says which file it is and what was expected: %s', async (_, source, said) => {
    const ada = await patchbay.person()
    const toolkitId = await newToolkit(ada)
    const found = await reviewFiles(ada, toolkitId, [['empty.json', JSON.stringify(source)]])
    expect(found).toMatchObject({ state: 'failed', problem: expect.stringContaining(said) })
    const page = await fetch(`${patchbay.origin}/toolkits/${toolkitId}/imports/${found.id}`, {
      headers: { authorization: `Bearer ${ada.token}`, accept: 'text/html' },
    })
    expect(await page.text()).toContain(found.problem?.split('.')[0])
  })

  it('names pasted text as such', async () => {
    const ada = await patchbay.person()
    const found = await review(ada, await newToolkit(ada), { text: JSON.stringify(descriptionOf({ paths: {} })) })
    expect(found.problem).toContain(`${NOTHING} pasted text.`)
  })
})
