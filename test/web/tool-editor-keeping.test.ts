import { describe, expect, it, vi } from 'vitest'
import { runFakeApi, runPatchbay } from '../servers/patchbay.ts'
import { createPageBrowser, inputsOf } from '../support/page-browser.ts'

vi.setConfig({ testTimeout: 30_000 })

const noteOf = (html: string, field: string): string =>
  (new RegExp(`id="note-${field}"[^>]*>(.*?)</div>`, 's').exec(html)?.[1] ?? '')
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll('&quot;', '"')
    .trim()
const chosen = (html: string, id: string): string | undefined =>
  /<option value="([^"]*)" selected/.exec(html.slice(html.indexOf(`id="${id}"`)).split('</select>', 1)[0] ?? '')?.[1]

describe('how long a tool keeps its answers, in the editor', () => {
  const patchbay = runPatchbay()
  const fake = runFakeApi()
  let people = 0

  const signUp = async () => {
    const browser = createPageBrowser(patchbay.origin)
    const email = `keeper${++people}@example.com`
    await browser.get('/sign-up')
    await browser.submit('/sign-up', { email, password: 'correct horse battery staple' })
    await browser.get('/toolkits/new-tool')
    return browser
  }
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

  it('is saved, shown again, and taken away', async () => {
    const browser = await signUp()
    const { location = '' } = await browser.submit('/toolkits/new-tool', form({ cacheSeconds: '3,600' }))
    const [path = ''] = location.split('?')
    const { html } = await browser.get(path)
    expect(inputsOf(html).get('cacheSeconds')).toBe('3600')
    expect(chosen(html, 'cacheShared')).toBe('yes')
    const version = inputsOf(html).get('version') ?? ''
    const saved = await browser.submit(path, form({ version, cacheSeconds: ' ' }))
    expect(saved.status).toBe(303)
    const { db } = patchbay.services
    const { definition } = await db.tool.findUniqueOrThrow({ where: { id: path.split('/')[2] ?? '' } })
    expect(definition).not.toHaveProperty('cacheSeconds')
    expect(definition).not.toHaveProperty('cacheShared')
  })

  it.each([
    [{ readOnlyHint: '' }, 'The time to keep answers is only for tools marked read-only (readOnlyHint): say yes to'],
    [{ readOnlyHint: 'no' }, 'The time to keep answers is only for tools marked read-only'],
    [{ cacheSeconds: 'soon' }, 'The time to keep answers must be a whole number of seconds from 1 to 86,400, a day.'],
    [{ cacheSeconds: '-5' }, 'The time to keep answers must be a whole number of seconds from 1 to 86,400, a day.'],
    [{ cacheSeconds: '0' }, 'The time to keep answers must be a whole number of seconds from 1 to 86,400, a day.'],
    [{ cacheSeconds: '86401' }, 'The time to keep answers must be a whole number of seconds from 1 to 86,400, a day.'],
    [
      { cacheSeconds: '"><script>alert(1)</script>' },
      'The time to keep answers must be a whole number of seconds from 1 to 86,400, a day.',
    ],
  ])('is refused beside its field, and keeps what was typed: %j', async (wrong, sentence) => {
    const browser = await signUp()
    const typed = form(wrong)
    const { status, html } = await browser.submit('/toolkits/new-tool', typed)
    expect(status).toBe(400)
    expect(noteOf(html, 'cacheSeconds')).toContain(sentence)
    expect(inputsOf(html).get('cacheSeconds')).toBe(typed.cacheSeconds)
    expect(chosen(html, 'cacheShared')).toBe('yes')
    expect(html).not.toContain('<script>alert(1)')
  })
})
