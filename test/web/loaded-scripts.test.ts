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

  it('are named with all modules that they import, each once, as they are imported', async () => {
    const html = await open('/toolkits/new-tool')
    const named = [...html.matchAll(/<link rel="modulepreload" href="([^"]*)">/g)].map(([, href = '']) => href)
    expect(new Set(named).size).toBe(named.length)
    const [script = ''] = /\/assets\/js\/tool-editor\.js[^"]*/.exec(html) ?? []
    const followed = new Set<string>()
    const follow = async (path: string): Promise<void> => {
      const text = await (await fetch(new URL(path, patchbay.origin))).text()
      for (const [, file] of text.matchAll(/^import\s[^;]*?from '\.\/([^']+)'/gm)) {
        const imported = `/assets/js/${file}`
        if (followed.has(imported)) continue
        followed.add(imported)
        await follow(imported)
      }
    }
    await follow(script)
    expect(followed.size).toBeGreaterThan(10)
    expect(named).toEqual(expect.arrayContaining([...followed]))
  })
})
