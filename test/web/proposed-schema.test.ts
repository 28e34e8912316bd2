import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { review } from '../imports/reviews/reviewing.ts'
import { answerJson } from '../support/fake-api.ts'
import { signInToPages } from '../support/signed-in.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'

const Applied = z.object({ created: z.tuple([z.object({ id: z.string() })]) })

const Tested = z.object({ proposedSchema: z.unknown() })

const ORDER = {
  type: 'object',
  required: ['id', 'total'],
  properties: { id: { type: 'integer' }, state: { type: 'string', enum: ['open'] }, total: { type: 'number' } },
}
const PROPOSED = {
  type: 'object',
  properties: {
    id: { type: ['integer', 'null'] },
    state: { type: ['string', 'null'] },
    total: { type: ['number', 'null'] },
  },
}
const OFFER = 'Use as output schema'

describe('the output schema of an imported description', () => {
  const patchbay = runPatchbay()
  let order: object = {}
  const fake = runFakeApi((_request, response) => answerJson(response, order))
  const builder = runUser(patchbay)

  const importOrder = async () => {
    const { id: toolkitId } = await builder.create('/toolkits', { title: 'Shop' })
    const content = { 'application/json': { schema: ORDER } }
    const description = {
      openapi: '3.1.0',
      info: { title: 'Shop', version: '1' },
      servers: [{ url: fake.origin }],
      paths: { '/order': { get: { operationId: 'getOrder', responses: { 200: { description: 'OK', content } } } } },
    }
    const { id } = await review(builder, toolkitId, { text: JSON.stringify(description) })
    const { body } = await builder.expectOk('POST', `/imports/${id}/apply`)
    return Applied.parse(body).created[0].id
  }

  it('is part of a test by the API, once a response has matched it', async () => {
    const toolId = await importOrder()
    const test = async (): Promise<unknown> => {
      const { body } = await builder.expectOk('POST', `/tools/${toolId}/test`, { arguments: {} })
      return Tested.parse(body).proposedSchema
    }
    await builder.expectOk('PATCH', `/tools/${toolId}`, { url: `${fake.origin}/order`, parameters: {} })
    order = { id: 'seven' }
    expect(await test()).toBeNull()
    order = { id: 7, more: null }
    expect(await test()).toEqual(PROPOSED)
    await builder.expectOk('PATCH', `/tools/${toolId}`, { outputSchema: PROPOSED })
    expect(await test()).toBeNull()
  })

  it('is offered once a response has matched it, and the form is filled in with it', async () => {
    const toolId = await importOrder()
    const page = await signInToPages(patchbay.origin, builder.email)
    await page.get(`/tools/${toolId}`)
    const form = { tool: toolId, name: 'get_order', method: 'GET', url: `${fake.origin}/order` }
    order = { id: 'seven', state: 'gone' }
    const wrong = await page.submit('/tool-send', form)
    expect(wrong.html).toContain('200 OK')
    expect(wrong.html).not.toContain(OFFER)
    expect(wrong.html).not.toContain('Not as in the output schema')

    order = { id: 7, state: 'gone', more: null }
    const sent = await page.submit('/tool-send', form)
    expect(sent.html).toContain(OFFER)
    const own = await page.submit('/tool-send', { ...form, outputSchema: '{"type": "object"}' })
    expect(own.html).not.toContain(OFFER)

    const proposedSchema = JSON.stringify(PROPOSED, null, 2)
    expect(sent.html).toContain(proposedSchema.replaceAll('"', '&quot;'))
    const filled = await page.submit('/tool-preview', { ...form, proposedSchema })
    expect(filled.html).toContain(`${proposedSchema.replaceAll('"', '&quot;')}</textarea>`)
    expect(filled.html).toContain('<input type="hidden" name="tab" value="response"')
    expect(filled.html).toContain('data-unsaved')
  })
})
