import { describe, expect, it } from 'vitest'
import { inputsOf } from '../support/page-browser.ts'
import { runFakeApi, runPatchbay } from '../support/world.ts'
import { noteOf, openEditor } from './editor-page.ts'

const selectedOption = (html: string, id: string): string | undefined =>
  /<option value="([^"]*)" selected/.exec(html.slice(html.indexOf(`id="${id}"`)).split('</select>', 1)[0] ?? '')?.[1]

describe('the cache settings of a tool, in the editor', () => {
  const patchbay = runPatchbay()
  const fake = runFakeApi()

  const form = (more: Record<string, string> = {}) => ({
    name: 'look_up',
    method: 'GET',
    url: `${fake.origin}/things/{{id}}`,
    toolkitTitle: 'Mine',
    readOnlyHint: 'yes',
    cacheSeconds: '60',
    cacheShared: 'yes',
    ...more,
  })

  it('are saved, shown again, and removed', async () => {
    const { browser } = await openEditor(patchbay.origin)
    const { location = '' } = await browser.submit('/toolkits/new-tool', form({ cacheSeconds: '3,600' }))
    const [path = ''] = location.split('?')
    const { html } = await browser.get(path)
    expect(inputsOf(html).get('cacheSeconds')).toBe('3600')
    expect(selectedOption(html, 'cacheShared')).toBe('yes')
    expect(noteOf(html, 'cacheSeconds')).toContain('Repeated requests get the cached response')
    const version = inputsOf(html).get('version') ?? ''
    const saved = await browser.submit(path, form({ version, cacheSeconds: ' ' }))
    expect(saved.status).toBe(303)
    const { db } = patchbay.services
    const { definition } = await db.tool.findUniqueOrThrow({ where: { id: path.split('/')[2] ?? '' } })
    expect(definition).not.toHaveProperty('cacheSeconds')
    expect(definition).not.toHaveProperty('cacheShared')
  })

  it.each([
    [{ readOnlyHint: '' }, 'The cache time only applies to read-only tools. Set "Read-only" (readOnlyHint) to yes'],
    [{ readOnlyHint: 'no' }, 'The cache time only applies to read-only tools'],
    [{ cacheSeconds: 'soon' }, 'The cache time must be a whole number of seconds from 1 to 86,400, a day.'],
    [{ cacheSeconds: '-5' }, 'The cache time must be a whole number of seconds from 1 to 86,400, a day.'],
    [{ cacheSeconds: '0' }, 'The cache time must be a whole number of seconds from 1 to 86,400, a day.'],
    [{ cacheSeconds: '86401' }, 'The cache time must be a whole number of seconds from 1 to 86,400, a day.'],
    [
      { cacheSeconds: '"><script>alert(1)</script>' },
      'The cache time must be a whole number of seconds from 1 to 86,400, a day.',
    ],
  ])('show an error beside the field and keep the input: %j', async (wrong, sentence) => {
    const { browser } = await openEditor(patchbay.origin)
    const typed = form(wrong)
    const { status, html } = await browser.submit('/toolkits/new-tool', typed)
    expect(status).toBe(400)
    expect(noteOf(html, 'cacheSeconds')).toContain(sentence)
    expect(html).toMatch(/<input [^>]*id="cacheSeconds"[^>]* aria-invalid="true"/)
    expect(inputsOf(html).get('cacheSeconds')).toBe(typed.cacheSeconds)
    expect(selectedOption(html, 'cacheShared')).toBe('yes')
    expect(html).not.toContain('<script>alert(1)')
  })
})
