import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { runPatchbay } from '../support/world.ts'
import { noteOf, openEditor } from './editor-page.ts'

const Definition = z.record(z.string(), z.unknown())
const BEFORE = 'It was saved before values were escaped in XML, so a value can change the XML around it. Save it again.'

describe('the editor of a tool that sends XML', () => {
  const patchbay = runPatchbay()

  const form = (body: string) => ({
    name: 'send_xml',
    method: 'POST',
    url: 'https://api.example.com/',
    headers: 'Content-Type: text/xml',
    body,
    toolkitTitle: 'Mine',
  })
  const { browser, idOf, age } = {
    browser: async () => (await openEditor(patchbay.origin)).browser,
    idOf: (location = '') => /[0-9a-f-]{36}/.exec(location)?.[0] ?? '',
    /** Removes what earlier versions did not store. */
    age: async (id: string): Promise<void> => {
      const row = await patchbay.db.tool.findUniqueOrThrow({ where: { id } })
      const { templateRules: _, ...definition } = Definition.parse(row.definition)
      await patchbay.db.tool.update({ where: { id }, data: { definition: JSON.parse(JSON.stringify(definition)) } })
    },
  }

  it('says that a placeholder for the whole body is sent unchanged', async () => {
    const user = await browser()
    const whole = await user.submit('/toolkits/new-tool', form('{{xml}}'))
    expect(noteOf((await user.get(whole.location ?? '')).html, 'body')).toBe(
      'Sent unchanged: must be well-formed XML in UTF-8, without a DOCTYPE.',
    )
    const part = await user.submit('/toolkits/new-tool', { ...form('<a>{{x}}</a>'), toolkitTitle: 'Other' })
    expect(noteOf((await user.get(part.location ?? '')).html, 'body')).toBe('')
  })

  it('refuses a placeholder in a comment, beside the body, with its position', async () => {
    const user = await browser()
    const { html, status } = await user.submit('/toolkits/new-tool', form('<a>\n<!-- {{x}} --></a>'))
    expect(status).toBe(400)
    expect(noteOf(html, 'body')).toContain('Line 2, column 6: a placeholder cannot be in an XML comment')
  })

  it('asks to save a tool again that was saved before values were escaped, also as a copy', async () => {
    const user = await browser()
    const id = idOf((await user.submit('/toolkits/new-tool', form('<a>{{x}}</a>'))).location)
    await age(id)
    expect(noteOf((await user.get(`/tools/${id}`)).html, 'body')).toBe(BEFORE)
    const copy = (await user.submit(`/tools/${id}/duplicate`, {})).location ?? ''
    expect(noteOf((await user.get(copy)).html, 'body')).toBe(BEFORE)

    const offered = await user.submit(`/tools/${id}/offer`, { server: 'new', serverName: 'Desk' })
    const tab = `/servers/${idOf(offered.location)}/tools`
    // The report is counted in the background.
    await expect
      .poll(async () => (await user.get(tab)).html)
      .toContain('It was saved before values were escaped in XML')

    await user.submit(`/tools/${id}`, form('<a>{{x}}</a>'))
    expect(noteOf((await user.get(`/tools/${id}`)).html, 'body')).toBe('')
    await expect.poll(async () => (await user.get(tab)).html).toContain('id="lint-title"')
    expect((await user.get(tab)).html).not.toContain('It was saved before')
  })
})
