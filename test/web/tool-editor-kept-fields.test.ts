import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { makeServer } from '../support/api-client.ts'
import { inputsOf } from '../support/page-browser.ts'
import { signInToPages } from '../support/signed-in.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'

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

  it('are named by an error that the form has no field for', async () => {
    const { save } = await open()
    const { status, html } = await save({ url: `${fake.origin}/pick?ids={{integer:ids}}` })
    expect(status).toBe(400)
    expect(html).toContain('Ids: the schema accepts no value of this parameter')
  })
})
