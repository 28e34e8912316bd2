import { describe, expect, it } from 'vitest'
import { makeServer } from '../support/api-client.ts'
import { createPageBrowser, inputsOf } from '../support/page-browser.ts'
import { runPatchbay, runUser } from '../support/world.ts'

const PASSWORD = 'correct horse battery staple'
const HOSTILE = '<script>alert(1)</script>'
const SCHEMA = { type: 'object', properties: { id: { type: 'integer' } } }

describe('the page of an instance', () => {
  const patchbay = runPatchbay()
  const owner = runUser(patchbay)

  const open = async (tool: object = {}) => {
    const plain = { name: 'one', method: 'GET', url: 'https://api.example.com/{{id}}' }
    const { serverId, instanceIds } = await makeServer(owner, [{ ...plain, ...tool }])
    const person = createPageBrowser(patchbay.origin)
    await person.submit('/sign-in', { email: owner.email, password: PASSWORD })
    const path = `/servers/${serverId}/tools/${instanceIds.one}`
    const save = async (maxResponseTokens: string) => {
      const version = inputsOf((await person.get(path)).html).get('version') ?? ''
      return person.submit(path, { name: 'one', description: '', maxResponseTokens, version, 'source:id': 'exposed' })
    }
    const budget = async () => (await owner.expectOk('GET', `/instances/${instanceIds.one}`)).body
    return { person, path, save, budget }
  }

  it('sets the token limit of results, and removes it', async () => {
    const { person, path, save, budget } = await open()
    expect(inputsOf((await person.get(path)).html).get('maxResponseTokens')).toBe('')
    expect(await save('1,500')).toMatchObject({ status: 303, location: `${path}?done=saved` })
    expect(await budget()).toMatchObject({ maxResponseTokens: 1_500 })
    expect(inputsOf((await person.get(path)).html).get('maxResponseTokens')).toBe('1500')
    expect((await save('0')).status).toBe(303)
    expect(await budget()).toMatchObject({ maxResponseTokens: 0 })
    expect((await save(' ')).status).toBe(303)
    expect(await budget()).toMatchObject({ maxResponseTokens: null })
  })

  it.each([['a few'], ['199'], ['-1'], ['1e3'], ['999999999'], [HOSTILE]])(
    'keeps the input %s, and explains what is allowed',
    async typed => {
      const { save, budget } = await open()
      const refused = await save(typed)
      expect(refused.status).toBe(400)
      expect(refused.html).toContain(
        'The number of tokens must be a whole number from 200 to 1,000,000, or 0 for no limit.',
      )
      expect(refused.html).not.toContain('<script>alert')
      expect(inputsOf(refused.html).get('maxResponseTokens')).toBe(typed)
      expect(await budget()).toMatchObject({ maxResponseTokens: null })
    },
  )

  it('warns that a limit removes the output schema from the list', async () => {
    const { person, path } = await open({ outputSchema: SCHEMA })
    expect((await person.get(path)).html).toContain('without its output schema')
  })
})
