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

  it('can be a fixed value, of the type of the parameter', async () => {
    const { save, read } = await open()
    const url = `${fake.origin}/pick?ids={{json:ids}}&limit={{integer:limit}}&sort={{sort}}`
    const fixed = (name: string, value: string) => ({
      [`parameter:${name}:source`]: 'fixed',
      [`parameter:${name}:fixed`]: value,
    })
    const typed = { url, ...fixed('ids', '[1, 2]'), ...fixed('limit', '20'), ...fixed('sort', '') }
    expect((await save(typed)).status).toBe(303)
    expect(await read()).toMatchObject({
      ids: { binding: { source: 'instance', value: '[1, 2]' } },
      limit: { binding: { source: 'instance', value: 20 } },
      sort: { binding: { source: 'instance', value: '' } },
    })
  })

  it.each([
    ['limit', 'many', 'The fixed value must be an integer, got a string that is not one.'],
    ['ids', '[1,', 'The fixed value is not valid JSON'],
    ['id', '..', 'The fixed value'],
  ])('is refused as the fixed value of %s: %s', async (name, value, sentence) => {
    const { save } = await open()
    const url = `${fake.origin}/pick/{{id}}?ids={{json:ids}}&limit={{integer:limit}}`
    const typed = { [`parameter:${name}:source`]: 'fixed', [`parameter:${name}:fixed`]: value }
    const { status, html } = await save({ url, ...typed })
    expect(status).toBe(400)
    const [, error = ''] = new RegExp(`id="error:parameter:${name}:fixed">(.*?)</div>`, 's').exec(html) ?? []
    expect(error).toContain(sentence)
    expect(textareaOf(html, `parameter:${name}:fixed`)).toBe(value)
  })

  it('is used by Send, whatever the example says, and is not asked for', async () => {
    const page = await signInToPages(patchbay.origin, ada.email)
    await page.get('/toolkits/new-tool')
    const { html } = await page.submit('/tool-send', {
      method: 'GET',
      name: 'list',
      url: `${fake.origin}/list?limit={{integer:limit}}`,
      'parameter:limit:source': 'fixed',
      'parameter:limit:fixed': '20',
      'parameter:limit:example': '5',
    })
    expect(html).toContain('200 OK')
    expect(fake.seen.at(-1)).toMatchObject({ url: '/list?limit=20' })
    expect(html).not.toContain('name="value:limit" value="5" inputmode')
  })

  it('is warned of if a secret is written out as a fixed value', async () => {
    const page = await signInToPages(patchbay.origin, ada.email)
    await page.get('/toolkits/new-tool')
    const { html } = await page.submit('/tool-preview', {
      url: `${fake.origin}/list?api_key={{api_key}}`,
      'parameter:api_key:source': 'fixed',
      'parameter:api_key:fixed': 'abc',
    })
    expect(unescapeHtml(html)).toContain('Everybody who may see the tool can read its fixed value.')
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
