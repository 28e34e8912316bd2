import { describe, expect, it } from 'vitest'
import { inputsOf, unescapeHtml } from '../support/page-browser.ts'
import { runPatchbay } from '../support/world.ts'
import { openEditor, selectsOf, textareaOf } from './editor-page.ts'

const TOKEN = 'sk-live-4f9XbQ27TzLmWc81RyVn05Ke'
const WITH_VALUES = 'https://api.carrier.example/v1/orders/17?limit=20&tag=a&tag=b'
const WITH_SECRET = `https://ada:${TOKEN}@api.carrier.example/v1/orders?api_key=${TOKEN}`

/** Returns the parameters that the page offers to make of the URL's values. */
const offerIn = (html: string): string | undefined =>
  /Its values can be parameters: (.*?)\.<\/span><button[^>]*name="import" value="url"/.exec(unescapeHtml(html))?.[1]

describe('a URL with values, in the tool editor', () => {
  const patchbay = runPatchbay()
  const open = () => openEditor(patchbay.origin)

  it('is offered with parameters in their place, which are filled in without scripts', async () => {
    const { browser } = await open()
    const fields = { method: 'POST', url: WITH_VALUES, headers: 'Accept: text/plain', body: 'Hello' }
    const shown = await browser.submit('/tool-preview', fields)
    expect(textareaOf(shown.html, 'url')).toBe(WITH_VALUES)
    expect(offerIn(shown.html)).toBe('{{order_id}}, {{limit}}')
    const { html } = await browser.submit('/tool-preview', { ...fields, import: 'url' })
    expect(textareaOf(html, 'url')).toBe(
      'https://api.carrier.example/v1/orders/{{integer:order_id}}?limit={{integer:limit}}&tag=a&tag=b',
    )
    expect(textareaOf(html, 'parameter:order_id:example')).toBe('17')
    expect(textareaOf(html, 'parameter:limit:default')).toBe('20')
    expect([textareaOf(html, 'headers'), textareaOf(html, 'body')]).toEqual(['Accept: text/plain', 'Hello'])
    expect(/<option value="([A-Z]+)" selected>/.exec(html)?.[1]).toBe('POST')
    expect(offerIn(html)).toBeUndefined()
  })

  it('has its secrets taken out, which the tool takes from a server', async () => {
    const { browser } = await open()
    const headers = 'authorization: Bearer {{old}}\nAccept: text/plain'
    const { html } = await browser.submit('/tool-preview', { url: WITH_SECRET, headers, import: 'url' })
    expect(html).not.toContain(TOKEN)
    expect(textareaOf(html, 'url')).toBe('https://api.carrier.example/v1/orders?api_key={{api_key}}')
    expect(textareaOf(html, 'headers')).toBe('Accept: text/plain\nAuthorization: Basic {{basic_credentials}}')
    expect(selectsOf(html).get('parameter:api_key:source')).toBe('secret')
    expect(inputsOf(html).get('parameter:api_key:key')).toBe('carrier_api_key')
    expect(offerIn(html)).toBeUndefined()
  })

  it('is left alone once it is saved, unless it has a secret', async () => {
    const { browser } = await open()
    const save = async (name: string, url: string) => {
      await browser.get('/toolkits/new-tool')
      const fields = { name, method: 'GET', url, toolkitTitle: name }
      const { location } = await browser.submit('/toolkits/new-tool', fields)
      return (await browser.get(location ?? '')).html
    }
    expect(offerIn(await save('plain', WITH_VALUES))).toBeUndefined()
    expect(offerIn(await save('secret', `https://api.carrier.example/v1/orders?api_key=${TOKEN}`))).toBe('{{api_key}}')
  })

  it.each([
    '',
    'https://api.carrier.example/v1/orders',
    '{{url:base}}/orders?limit=20',
    'not a URL',
    'x'.repeat(9_000),
  ])('is not offered without values or a host: %.30s', async url => {
    const { browser } = await open()
    const { html } = await browser.submit('/tool-preview', { url, import: 'url' })
    expect([offerIn(html), textareaOf(html, 'url')]).toEqual([undefined, url])
  })
})
