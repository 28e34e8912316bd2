import { describe, expect, it } from 'vitest'
import { makeServer } from '../support/api-client.ts'
import { signInToPages } from '../support/signed-in.ts'
import { runPatchbay, runUser } from '../support/world.ts'

describe('the scripts of a page', () => {
  const patchbay = runPatchbay()
  const ada = runUser(patchbay)
  const open = async (path: string): Promise<string> =>
    (await (await signInToPages(patchbay.origin, ada.email)).get(path)).html

  it('include htmx only if a part of the page is exchanged', async () => {
    const { serverId } = await makeServer(ada, [])
    const htmx = /<script src="\/assets\/htmx\/htmx\.min\.js[^"]*"/
    expect(await open(`/servers/${serverId}/settings`)).not.toMatch(htmx)
    expect(await open('/search?q=answers')).toMatch(htmx)
  })
})
