import { expect, it } from 'vitest'
import { makeServer } from '../../support/api-client.ts'
import { signInToPages } from '../../support/signed-in.ts'
import { runFakeApi, runPatchbay, runUser } from '../../support/world.ts'

const HOSTILE = '<script>alert(1)</script>'
const patchbay = runPatchbay()
const owner = runUser(patchbay)
const api = runFakeApi((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/plain' }).end(`${HOSTILE} ${'x'.repeat(70_000)}`)
})

it('the settings of a server turn on that bodies are stored, and the page of a call then shows the response', async () => {
  const tool = { name: 'get', method: 'GET', url: `${api.origin}/` }
  const { serverId, instanceIds } = await makeServer(owner, [tool])
  const settings = `/servers/${serverId}/settings`
  const person = await signInToPages(patchbay.origin, owner.email)
  const showCall = async (): Promise<string> => {
    await owner.expectOk('POST', `/instances/${instanceIds.get}/call`, { arguments: {} })
    const { html } = await person.get(`/servers/${serverId}/history`)
    const href = /<a id="call-[^"]*" href="([^"]*)"/.exec(html)?.[1] ?? ''
    return (await person.get(href.replaceAll('&amp;', '&'))).html
  }

  expect((await person.get(settings)).html).toMatch(/<input type="checkbox" name="storesBodies">/)
  expect(await showCall()).not.toContain('id="call-response"')
  await person.submit(settings, { storesBodies: 'on', switches: 'storesBodies' })
  expect((await person.get(settings)).html).toMatch(/<input type="checkbox" name="storesBodies" checked>/)
  const shown = await showCall()
  expect(shown).toContain('id="call-response"')
  expect(shown).toContain('&lt;script&gt;alert(1)')
  expect(shown).not.toContain(HOSTILE)
  expect(shown).toContain('Only the first 65,536 characters are stored.')
  await person.submit(settings, { switches: 'storesBodies' })
  expect((await owner.send('GET', `/servers/${serverId}`)).body).toMatchObject({ storesBodies: false })
})
