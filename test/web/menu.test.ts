import { describe, expect, it } from 'vitest'
import { signUp } from '../support/api-client.ts'
import { signInToPages } from '../support/signed-in.ts'
import { runPatchbay } from '../support/world.ts'

describe('the main menu', () => {
  const patchbay = runPatchbay({ isOwn: true })

  const open = async (email: string, path = '/servers') => {
    await signUp(patchbay.origin, email)
    const { html } = await (await signInToPages(patchbay.origin, email)).get(path)
    const menu = /<nav class="menu".*?<\/nav>/s.exec(html)?.[0] ?? ''
    return {
      entries: [...menu.matchAll(/<a [^>]*>([^<]*)<\/a>/g)].map(([, text]) => text),
      initials: /<span class="avatar" aria-hidden="true">([^<]*)</.exec(html)?.[1],
      html,
    }
  }

  it('has the pages of everyday work, and those of the operator for the operator', async () => {
    expect((await open('first@example.com')).entries).toEqual(['Servers', 'Toolkits', 'Organization', 'Operator'])
    expect((await open('second@example.com')).entries).toEqual(['Servers', 'Toolkits', 'Organization'])
  })

  it.each([
    ['mara.okonjo@example.com', 'MO'],
    ['dispatch@example.com', 'D'],
    ['anna-lena.maria@example.com', 'AL'],
    ['_@example.com', '?'],
  ])('leads to the account of %s with %s', async (email, initials) => {
    const opened = await open(email, '/account')
    expect(opened.initials).toBe(initials)
    expect(opened.html).toMatch(/<a class="me" href="\/account"[^>]* aria-current="page">/)
  })
})
