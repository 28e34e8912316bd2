import { describe, expect, it } from 'vitest'
import { runPatchbay } from '../support/world.ts'
import { noteOf, openEditor } from './editor-page.ts'

describe('the editor of a tool with a serialization', () => {
  const patchbay = runPatchbay()

  it('shows it at the location of the parameter', async () => {
    const { browser } = await openEditor(patchbay.origin)
    const url = 'https://a.example/{{path | segments}}?tag={{json:tags? | repeat}}'
    const { html } = await browser.submit('/tool-preview', { method: 'GET', url })
    expect(html).toContain('<span class="under">path (segments)</span>')
    expect(html).toContain('<span class="under">query (repeat)</span>')
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
