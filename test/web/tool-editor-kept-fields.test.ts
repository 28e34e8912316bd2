import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { makeServer } from '../support/api-client.ts'
import { inputsOf, unescapeHtml } from '../support/page-browser.ts'
import { signInToPages } from '../support/signed-in.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'
import { selectsOf, textareaOf } from './editor-page.ts'

const Parameters = z.looseObject({ parameters: z.record(z.string(), z.looseObject({})) })

describe('the schema and the default binding of a parameter, in the tool editor', () => {
  const patchbay = runPatchbay()
  const fake = runFakeApi()
  const ada = runUser(patchbay)

  const SCHEMA = { type: 'array', items: { type: 'integer' } }
  const BINDING = { source: 'server', key: 'api_token', secret: true }
  const open = async () => {
    const definition = {
      name: 'pick',
      method: 'GET',
      url: `${fake.origin}/pick?ids={{json:ids}}`,
      headers: [{ name: 'x-token', value: '{{token}}' }],
      parameters: { ids: { schema: SCHEMA }, token: { binding: BINDING, description: 'Of the account' } },
    }
    const { toolIds } = await makeServer(ada, [definition])
    const path = `/tools/${toolIds.pick}`
    const page = await signInToPages(patchbay.origin, ada.email)
    const { html } = await page.get(path)
    const save = (more: Record<string, string>) =>
      page.submit(path, {
        name: 'pick',
        method: 'GET',
        url: definition.url,
        headers: 'x-token: {{token}}',
        'parameter:token:description': 'Of the account',
        version: inputsOf(html).get('version') ?? '',
        ...more,
      })
    const read = async () => Parameters.parse((await ada.expectOk('GET', path)).body).parameters
    return { html, save, read }
  }

  it('stay when the tool is saved', async () => {
    const { save, read } = await open()
    const saved = await save({ title: 'Pick', 'parameter:ids:description': 'Which', 'parameter:token:description': '' })
    expect(saved.status).toBe(303)
    const { ids, token } = await read()
    expect(ids).toMatchObject({ description: 'Which', schema: SCHEMA })
    expect(token).toMatchObject({ binding: BINDING })
    expect(token).not.toHaveProperty('description')
  })

  it('are used by what the model sees: the schema, but not the bound parameter', async () => {
    const { html } = await open()
    const [, seen = ''] = /id="seen-title"(.*?)<\/section>/s.exec(html) ?? []
    expect(seen).toContain('integer')
    expect(seen).not.toContain('Of the account')
  })

  it('have their errors beside their fields', async () => {
    const { save } = await open()
    const { status, html } = await save({ url: `${fake.origin}/pick?ids={{integer:ids}}` })
    expect(status).toBe(400)
    expect(html).toMatch(
      /<div id="hint:parameter:ids:schema"><p class="error">.*<span>The schema accepts no value of this parameter/,
    )
  })

  it('can be changed and removed', async () => {
    const { html, save, read } = await open()
    expect(JSON.parse(textareaOf(html, 'parameter:ids:schema'))).toEqual(SCHEMA)
    expect(selectsOf(html).get('parameter:token:source')).toBe('secret')
    expect(inputsOf(html).get('parameter:token:key')).toBe('api_token')
    const saved = await save({
      'parameter:ids:schema': '{"type": "array", "maxItems": 3}',
      'parameter:ids:source': 'global',
      'parameter:ids:key': 'picked',
      'parameter:token:source': 'model',
    })
    expect(saved.status).toBe(303)
    const { ids, token } = await read()
    expect(ids).toMatchObject({
      schema: { type: 'array', maxItems: 3 },
      binding: { source: 'server', key: 'picked', secret: false },
    })
    expect(token).not.toHaveProperty('binding')
  })

  it.each([
    ['{"type": "array",}', 'Line 1, column 17: delete this comma: } follows.'],
    ['[]', 'A schema must be a JSON object: {…}.'],
    ['{"type": "thing"}', 'must be one of array'],
  ])('is refused with the schema %s, which stays typed', async (typed, sentence) => {
    const { save } = await open()
    const { status, html } = await save({ 'parameter:ids:schema': typed })
    expect(status).toBe(400)
    expect(unescapeHtml(html)).toContain(sentence)
    expect(textareaOf(html, 'parameter:ids:schema')).toBe(typed)
  })
})
