import { describe, expect, it } from 'vitest'
import { runPatchbay } from '../support/world.ts'
import { noteOf, openEditor } from './editor-page.ts'

const selectedIn = (html: string, name: string): string | undefined =>
  new RegExp(`name="${name}".*?<option value="" selected>([^<]*)<`, 's').exec(html)?.[1]

describe('the editor of a tool with a serialization', () => {
  const patchbay = runPatchbay()

  it('shows it at the location of the parameter', async () => {
    const { browser } = await openEditor(patchbay.origin)
    const url = 'https://a.example/{{path | segments}}?tag={{json:tags? | repeat}}'
    const { html } = await browser.submit('/tool-preview', { method: 'GET', url })
    expect(html).toContain('<span class="under">path (segments)</span>')
    expect(html).toContain('<span class="under">query (repeat)</span>')
  })

  it('lets a text in the path keep its slashes, and no other parameter', async () => {
    const { browser } = await openEditor(patchbay.origin)
    const form = { method: 'GET', url: 'https://a.example/{{path}}?q={{q}}' }
    const { html } = await browser.submit('/tool-preview', form)
    expect(html.match(/<option value="segments">Text with slashes/g)).toHaveLength(1)
    const open = await browser.submit('/tool-preview', { ...form, 'parameter:path:type': 'segments' })
    expect(open.html).toContain('https://a.example/{{path | segments}}?q={{q}}')
    expect(selectedIn(open.html, 'parameter:path:type')).toBe('Text with slashes')
    const url = 'https://a.example/{{path | segments}}?q={{q}}'
    const closed = await browser.submit('/tool-preview', { ...form, url, 'parameter:path:type': 'string' })
    expect(closed.html).toContain(form.url)
    expect(selectedIn(closed.html, 'parameter:path:type')).toBe('Text')
  })

  it('says what is allowed instead of one that is not', async () => {
    const { browser } = await openEditor(patchbay.origin)
    const url = 'https://a.example/?a={{json:x | segments}}'
    const { html } = await browser.submit('/tool-preview', { method: 'GET', url })
    expect(noteOf(html, 'url')).toContain(
      '"segments" needs a parameter of type string. Write {{string:name | segments}}',
    )
  })
})
