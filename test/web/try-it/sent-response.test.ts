import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { makeServer, signUp } from '../../support/api-client.ts'
import { unescapeHtml } from '../../support/page-browser.ts'
import { signInToPages, textOf } from '../../support/signed-in.ts'
import { runFakeApi, runPatchbay } from '../../support/world.ts'
import { openEditor } from '../editor-page.ts'

const HOSTILE = '</span><script>alert(1)</script>'
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const PNG = Buffer.from(PIXEL, 'base64')
const PDF = Buffer.from('%PDF-1.7\n%\xff\xff\xff\xff\n', 'latin1')
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
const ORDERS = Array.from({ length: 9_000 }, (_, id) => ({ id, note: `Order ${id}. ${'Ring twice. '.repeat(15)}` }))

const RESPONSES: Readonly<Record<string, [type: string, body: string | Buffer, status?: number]>> = {
  '/orders': ['application/json', JSON.stringify({ orders: ORDERS })],
  '/numbers': ['application/vnd.api+json; charset=utf-8', '{"id": 12345678901234567890, "list": [], "none": {}}'],
  '/hostile': ['application/json', JSON.stringify({ [HOSTILE]: HOSTILE })],
  '/deep': ['application/json', `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`],
  '/broken': ['application/json', '{\n  "a": 1,\n  "b": [1, 2,]\n}'],
  '/html-as-json': ['application/json', '<h1>Not found</h1>', 404],
  '/unlabelled': ['text/plain', '{"plain": true}'],
  '/lines': ['application/x-ndjson', '{"a": 1}\n{"a": 2}\n'],
  '/text': ['text/plain', `just text ${HOSTILE}`],
  '/png': ['image/png', PNG],
  '/png-as-bytes': ['application/octet-stream', PNG],
  '/svg': ['image/svg+xml', SVG],
  '/not-png': ['image/png', Buffer.from([0, 1, 2, 255, 254])],
  '/large-png': ['image/png', Buffer.concat([PNG, Buffer.alloc(3_000_000)])],
  '/pdf': ['application/pdf', PDF],
  '/zip': ['application/zip', Buffer.from([0x50, 0x4b, 3, 4, 255])],
  '/empty': ['application/json', '', 200],
}

/** Responds with a file that contains what the path says. */
const answerFile = (text: string, response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'application/zip' }).end(Buffer.from(`PK\x03\xff${text}`, 'latin1'))

const answer = (path: string, response: ServerResponse) => {
  if (path.startsWith('/echo/')) return answerFile(path.slice('/echo/'.length), response)
  const [type, body, status = 200] = RESPONSES[path] ?? ['text/plain', 'no such response', 500]
  return response.writeHead(status, { 'content-type': type }).end(body)
}

describe('the response of a Send', () => {
  const patchbay = runPatchbay()
  const fake = runFakeApi(({ url }, response) => answer(url, response))

  /** Sends a request and returns the part of the page that shows the response. */
  const send = async (path: string) => {
    const { browser } = await openEditor(patchbay.origin)
    const form = { name: 'get_it', method: 'GET', url: `${fake.origin}${path}`, toolkitTitle: 'Mine' }
    const { html, status } = await browser.submit('/tool-send', form)
    expect(status).toBe(200)
    const from = html.indexOf('data-part="response"')
    const part = html.slice(from, html.indexOf('id="shaped"', from))
    return { html: part, text: unescapeHtml(textOf(`<${part}`)), page: html }
  }

  it('is a tree of limited size, which says what is left out, if it is two megabytes of JSON', async () => {
    const { html, text, page } = await send('/orders')
    expect(text).toContain('200 OK')
    expect(text).toContain('1.9 MB')
    expect(text).toContain('"orders" : [ 9000 items ]')
    expect(text).toMatch(/Showing [\d,]+ of 27,002 values\./)
    expect(text).toContain('more not shown')
    expect(html).toContain('Order 1. ')
    expect(page.length).toBeLessThan(600_000)
  })

  it('spells numbers as the API does, and tells empty arrays from empty objects', async () => {
    const { text } = await send('/numbers')
    expect(text).toContain('"id" : 12345678901234567890')
    expect(text).toContain('"list" : []')
    expect(text).toContain('"none" : {}')
  })

  it('shows markup as text, in keys and values, and in plain text', async () => {
    for (const path of ['/hostile', '/text']) {
      const { page, html } = await send(path)
      expect(page).not.toContain('<script>alert')
      expect(html).toContain('&lt;script&gt;alert(1)')
    }
  })

  it('is shown if it is nested thousands of levels deep', async () => {
    const { text } = await send('/deep')
    expect(text).toContain('Showing 21 of 20,001 values.')
    expect(text).toContain('1 more not shown')
  })

  it('is reported with the position of the error if it should be JSON and is not', async () => {
    const broken = await send('/broken')
    expect(broken.text).toContain(
      'This response should be JSON, but is not valid: line 3, column 13: delete this comma: ] follows.',
    )
    expect(broken.text).toContain('"b": [1, 2,]')
    const page = await send('/html-as-json')
    expect(page.text).toContain('404 Not found')
    expect(page.text).toContain('This response should be JSON, but is not valid: line 1, column 1: unexpected text')
    expect(page.html).toContain('&lt;h1&gt;')
  })

  it('is a tree if it is JSON under another type, and text if it is several values', async () => {
    expect((await send('/unlabelled')).text).toContain('"plain" : true')
    const lines = await send('/lines')
    expect(lines.html).not.toContain('response-tree')
    expect(lines.text).toContain('{"a": 1} {"a": 2}')
    expect(lines.text).not.toContain('should be JSON')
  })

  it.each(['/png', '/png-as-bytes'])('shows an image, by its content, that came from %s', async path => {
    const { html, text } = await send(path)
    expect(html).toContain(`<img class="picture" src="data:image/png;base64,${PIXEL}" alt="The image in the response">`)
    expect(text).toContain('Image (image/png), 70 bytes.')
  })

  it('never shows SVG as an image, but as text', async () => {
    const { html, page } = await send('/svg')
    expect(html).not.toContain('<img')
    expect(html).toContain('&lt;svg xmlns=')
    expect(page).not.toContain('<script>alert')
  })

  it('shows no image that is not one or is too large for the page, and says so', async () => {
    const fakeImage = await send('/not-png')
    expect(fakeImage.html).not.toContain('<img')
    expect(fakeImage.text).toContain('This response should be an image (image/png), but is not a PNG')
    const large = await send('/large-png')
    expect(large.html).not.toContain('<img')
    expect(large.text).toContain('Image (image/png), 3 MB. The model gets it unchanged. It is too large to show here.')
    expect(large.page.length).toBeLessThan(200_000)
  })

  it('offers a PDF and other files as downloads', async () => {
    const pdf = await send('/pdf')
    expect(pdf.html).toContain(`href="data:application/pdf;base64,${PDF.toString('base64')}" download="response.pdf">`)
    const zip = await send('/zip')
    expect(zip.html).toContain('href="data:application/octet-stream;base64,UEsDBP8=" download="response.bin">')
    expect(zip.text).toContain('application/zip, 5 bytes.')
  })

  it('says that it has no body', async () => {
    expect((await send('/empty')).text).toContain('The response has no body.')
  })

  it('hides the bytes of a secret in a file', async () => {
    const owner = await signUp(patchbay.origin)
    const { serverId } = await makeServer(owner, [])
    const secret = { value: 'sk-secret-0123456789', secret: true, origins: [fake.origin] }
    await owner.expectOk('PUT', `/servers/${serverId}/globals/key`, secret)
    const browser = await signInToPages(patchbay.origin, owner.email)
    await browser.get('/toolkits/new-tool')
    const form = { name: 'get_file', method: 'GET', url: `${fake.origin}/echo/{{key}}`, toolkitTitle: 'Mine' }
    const { html } = await browser.submit('/tool-send', { ...form, serverId })
    const [, base64 = ''] = /octet-stream;base64,([^"]+)"/.exec(html) ?? []
    expect(Buffer.from(base64, 'base64').toString('latin1')).toBe(`PK\x03\xff${'*'.repeat(20)}`)
  })

  it('takes the place of an earlier one in the preview of shaping, also if it cannot be shaped', async () => {
    const { browser } = await openEditor(patchbay.origin)
    const form = { name: 'get_it', method: 'GET', url: `${fake.origin}/numbers`, toolkitTitle: 'Mine' }
    const first = await browser.submit('/tool-send', form)
    const [, sample = ''] = /name="sample" value="([^"]*)"/.exec(first.html) ?? []
    expect(first.html).toContain('aria-label="After"')
    const failed = await browser.submit('/tool-send', { ...form, sample, url: `${fake.origin}/html-as-json` })
    expect(failed.html).not.toContain('aria-label="After"')
    expect(failed.html).toContain('name="sample" value=""')
    expect(failed.html).toContain('This response cannot be shaped.')
  })
})
