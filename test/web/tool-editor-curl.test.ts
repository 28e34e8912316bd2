import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { createPageBrowser, inputsOf, unescapeHtml } from '../support/page-browser.ts'
import { runFakeApi, runPatchbay } from '../support/world.ts'
import { noteOf, openEditor, selectsOf, textareaOf } from './editor-page.ts'

vi.setConfig({ testTimeout: 30_000 })

const TOKEN = 'sk-live-4f9XbQ27TzLmWc81RyVn05Ke'
const Parameters = z.record(z.string(), z.looseObject({}))

/** Returns the text of the note below the URL field, without markup. */
const importedIn = (html: string): string => {
  const [, part = ''] = /<div data-part="imported"[^>]*>(.*?)<button/s.exec(html) ?? []
  return unescapeHtml(part.replaceAll(/<[^>]+>/g, ' '))
    .replaceAll(/\s+/g, ' ')
    .trim()
}
const formIn = (html: string) => ({
  ...Object.fromEntries(inputsOf(html)),
  ...Object.fromEntries(selectsOf(html)),
  method: /<option value="([A-Z]+)" selected>/.exec(html)?.[1] ?? '',
  ...Object.fromEntries(
    ['url', 'headers', 'body', 'parameter:expand:default'].map(field => [field, textareaOf(html, field)]),
  ),
})

describe('a cURL command in the URL field of the tool editor', () => {
  const patchbay = runPatchbay()
  const fake = runFakeApi()
  const open = () => openEditor(patchbay.origin)
  const fragment = () => ({ 'hx-request': 'true', origin: patchbay.origin })
  const command = () => `curl -X PUT '${fake.origin}/v1/orders/17?expand=items&api_key=${TOKEN}' \\\r
  -H 'Authorization: Bearer ${TOKEN}-2' -H 'Accept: application/json' -k \\\r
  --json '{"note": "hello", "password": "${TOKEN}-3"}'`

  it.each([
    ['a preview', '/tool-preview', 200],
    ['saving', '/toolkits/new-tool', 200],
    ['sending', '/tool-send', 200],
  ])(
    'fills in the form without scripts on %s, without its secrets, and nothing is saved or sent',
    async (_, path, expected) => {
      const { browser, userId } = await open()
      const seen = fake.seen.length
      const { status, html } = await browser.submit(path, { method: 'GET', url: command(), toolkitTitle: 'Mine' })
      expect(status).toBe(expected)
      expect(html).not.toContain(TOKEN)
      expect(formIn(html)).toMatchObject({
        name: 'put_order',
        method: 'PUT',
        url: `${fake.origin}/v1/orders/17?expand={{expand}}&api_key={{api_key}}`,
        headers: 'Accept: application/json\nAuthorization: Bearer {{access_token}}\nContent-Type: application/json',
        body: '{"note": "hello", "password": "{{password}}"}',
      })
      expect(textareaOf(html, 'parameter:expand:default')).toBe('items')
      expect(importedIn(html)).toBe(
        'Filled in from the cURL command. The values of secrets were not kept. Set api_key , password and access_token as secrets on the server that uses this tool. The certificate of the API will be checked, although the command has -k.',
      )
      expect(fake.seen.length).toBe(seen)
      const toolkits = { organization: { memberships: { some: { userId } } } }
      expect(await patchbay.services.db.toolkit.count({ where: toolkits })).toBe(0)
    },
  )

  it('is saved as a tool that takes its secrets from the server that it is added to', async () => {
    const { browser, userId } = await open()
    const { html } = await browser.submit('/tool-preview', { url: command(), toolkitTitle: 'Mine' })
    const saved = await browser.submit('/toolkits/new-tool', { ...formIn(html), toolkitTitle: 'Mine' })
    expect(saved.status).toBe(303)
    const { db } = patchbay.services
    const of = { toolkit: { organization: { memberships: { some: { userId } } } } }
    const tool = await db.tool.findFirstOrThrow({ where: of })
    expect(JSON.stringify(tool)).not.toContain(TOKEN)
    const { parameters } = z.looseObject({ parameters: Parameters }).parse(tool.definition)
    expect(parameters).toMatchObject({
      expand: { default: 'items' },
      access_token: { binding: { source: 'server', key: 'access_token', secret: true } },
      password: { binding: { source: 'server', key: 'password', secret: true } },
    })
    const offered = await browser.submit(`/tools/${tool.id}/offer`, { server: 'new', serverName: 'Desk' })
    const server = await browser.get((offered.location ?? '').replace(/\?.*/, ''))
    expect(unescapeHtml(server.html)).toContain('access_token')
    const bindings = await db.binding.findMany({ where: { instance: { toolId: tool.id } } })
    expect(bindings.map(({ parameter, source, value }) => [parameter, source, value]).sort()).toEqual([
      ['access_token', 'server', 'access_token'],
      ['api_key', 'server', 'api_key'],
      ['password', 'server', 'password'],
    ])
    const shown = await browser.get(`/tools/${tool.id}`)
    expect(formIn(shown.html)).toMatchObject({
      'parameter:access_token:source': 'secret',
      'parameter:access_token:key': 'access_token',
    })
    const again = await browser.submit(`/tools/${tool.id}`, { ...formIn(shown.html), url: command() })
    expect(importedIn(again.html)).toContain(
      'On servers that already use it, also bind the parameters on the Tools tab.',
    )
  })

  it('names the secret after the host, because other APIs have the same parameters', async () => {
    const { browser } = await open()
    const url = `$ curl https://api.carrier.example/v1/labels -H 'X-Api-Token: ${TOKEN}'`
    const { html } = await browser.submit('/tool-preview', { url })
    expect(formIn(html)).toMatchObject({
      headers: 'X-Api-Token: {{x_api_token}}',
      'parameter:x_api_token:source': 'secret',
      'parameter:x_api_token:key': 'carrier_x_api_token',
    })
    expect(importedIn(html)).toContain('Set carrier_x_api_token as a secret on the server that uses this tool.')
  })

  it('can have variables of the shell, which become parameters', async () => {
    const { browser } = await open()
    const url = `curl "https://api.carrier.example/labels/$LABEL" -H "Authorization: Bearer $TOKEN"`
    const { html } = await browser.submit('/tool-preview', { url })
    expect(formIn(html)).toMatchObject({
      url: 'https://api.carrier.example/labels/{{label}}',
      'parameter:token:source': 'secret',
      'parameter:token:key': 'carrier_token',
    })
    expect(importedIn(html)).toBe(
      'Filled in from the cURL command. Set carrier_token as a secret on the server that uses this tool.',
    )
  })

  it('can have a multipart body, which is sent with the line breaks that APIs expect', async () => {
    const { browser } = await open()
    const url = `curl ${fake.origin}/upload -F 'title=A b' -F 'client_secret=${TOKEN}'`
    const { html } = await browser.submit('/tool-preview', { url })
    expect(html).not.toContain(TOKEN)
    const sent = await browser.submit('/tool-send', { ...formIn(html), 'value:client_secret': 'mine' })
    expect(sent.html).toContain('200 OK')
    const { headers, body } = fake.seen.at(-1) ?? {}
    const boundary = /boundary=(.+)/.exec(String(headers?.['content-type']))?.[1]
    const part = (name: string, value: string) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
    expect(body).toBe(`${part('title', 'A b')}${part('client_secret', 'mine')}--${boundary}--\r\n`)
  })

  it.each([
    ['XML', "-H 'Content-Type: text/xml' -d '<key>a</key>'", false],
    ['JSON that is sent as text', `-H 'Content-Type: text/plain' -d '{"a": 1}'`, false],
    ['plain text', `-H 'Content-Type: text/plain' -d 'a b'`, true],
    ['a file', `-H 'Content-Type: text/plain' -d @body.txt`, false],
    ['a form', `-d 'a=b'`, false],
    ['no body', '', false],
  ])('says whether secrets in the body could be missed: %s', async (_, options, isMissed) => {
    const { browser } = await open()
    const { html } = await browser.submit('/tool-preview', { url: `curl https://a.example/ ${options}` })
    expect(importedIn(html)).toContain('Filled in from the cURL command.')
    expect(importedIn(html).includes('Plain text is not searched for secrets.')).toBe(isMissed)
  })

  it('keeps the other fields, also of a saved tool, whose name stays', async () => {
    const { browser } = await open()
    const made = await browser.submit('/toolkits/new-tool', {
      name: 'mine',
      method: 'GET',
      url: 'https://a.example/{{expand}}',
      toolkitTitle: 'Mine',
      'parameter:expand:description': 'What to expand',
    })
    const path = (made.location ?? '').replace(/\?.*/, '')
    const { html } = await browser.get(path)
    const filled = await browser.submit(path, { ...formIn(html), description: 'Gets it.', url: command() })
    expect(filled.html).not.toContain(TOKEN)
    expect(textareaOf(filled.html, 'description')).toBe('Gets it.')
    expect(formIn(filled.html)).toMatchObject({ name: 'mine', 'parameter:expand:description': 'What to expand' })
    const saved = await browser.submit(path, { ...formIn(filled.html), description: 'Gets it.' })
    expect(saved).toMatchObject({ status: 303, location: `${path}?done=saved` })
  })

  it.each([
    ['/tool-preview', 200],
    ['/toolkits/new-tool', 400],
    ['/tool-send', 400],
  ])('that cannot be read is an error with its position, and is not shown: %s', async (path, expected) => {
    const { browser } = await open()
    const url = `curl https://a.example \\\r\n  -H 'Authorization: Bearer ${TOKEN}`
    const { status, html } = await browser.submit(path, { method: 'GET', url, name: 'kept', toolkitTitle: 'Mine' })
    expect(status).toBe(expected)
    expect(noteOf(html, 'url')).toBe('Line 2, column 6: in the cURL command, the quote that starts here is not closed.')
    expect(html).not.toContain(TOKEN)
    expect(formIn(html)).toMatchObject({ name: 'kept', url: '' })
  })

  it('that no tool can send is an error, and is not shown', async () => {
    const { browser } = await open()
    const url = `curl https://a.example/ -H 'Authorization: Bearer ${TOKEN}' -H '${TOKEN}: 1'`
    const { html } = await browser.submit('/tool-preview', { url })
    expect(noteOf(html, 'url')).toContain('The URL cannot be read from this cURL command: a secret is also in a place')
    expect(html).not.toContain(TOKEN)
  })

  it.each([
    ['in the query', "'https://a.example/?note=correct%2fhorse%2dbattery'"],
    ['in the path', 'https://a.example/correct%2fhorse-battery'],
    ['in a form', "https://a.example/ -d 'note=%63orrect%2Fhorse-battery'"],
  ])('that contains a secret twice, in an unusual encoding, is an error: %s', async (_, request) => {
    const { browser } = await open()
    const url = `curl ${request} -H 'Authorization: Bearer correct/horse-battery'`
    const { html } = await browser.submit('/tool-preview', { url })
    expect(noteOf(html, 'url')).toContain('a secret is also in a place where no placeholder is allowed.')
    expect(html).not.toContain('battery')
  })

  it('shows no name of an invalid header in the error', async () => {
    const { browser } = await open()
    const { html } = await browser.submit('/tool-preview', { url: `curl https://a.example/ -H '${TOKEN}\u00e9: 1'` })
    expect(noteOf(html, 'url')).toContain('a text is not a valid header name')
    expect(html).not.toContain(TOKEN)
  })

  it.each([
    ['in a block of Markdown', (text: string) => `\`\`\`bash\n${text}\n\`\`\``],
    ['after an assignment', (text: string) => `SECRET=${TOKEN}-4 ${text}`],
    ['after another command', (text: string) => `export SECRET=${TOKEN}-4\n${text}`],
    ['with the folder of curl', (text: string) => `sudo /usr/bin/${text}`],
  ])('is recognized %s', async (_, around) => {
    const { browser } = await open()
    const { html } = await browser.submit('/tool-preview', { url: around(command()) })
    expect(html).not.toContain(TOKEN)
    expect(formIn(html)).toMatchObject({ name: 'put_order', method: 'PUT' })
  })

  it('that is too long is an error, and is not shown', async () => {
    const { browser } = await open()
    const url = `curl https://a.example/ -H 'Authorization: Bearer ${TOKEN}' -d '${'x'.repeat(32_768)}'`
    const { html } = await browser.submit('/tool-preview', { url })
    expect(noteOf(html, 'url')).toBe(
      'The URL cannot be read from this cURL command: it is longer than 32,768 characters. Shorten its body.',
    )
    expect(html).not.toContain(TOKEN)
  })

  it('is offered to a script that previews it, and neither shown nor sent', async () => {
    const { browser } = await open()
    const seen = fake.seen.length
    for (const path of ['/tool-preview', '/tool-send']) {
      const { html } = await browser.submit(path, { method: 'GET', url: command() }, fragment())
      expect(html).toContain('This is a cURL command.')
      expect(html).not.toContain(TOKEN)
      await browser.get('/toolkits/new-tool')
    }
    expect(fake.seen.length).toBe(seen)
    const asked = await browser.submit('/tool-preview', { method: 'GET', url: command(), import: 'curl' }, fragment())
    expect(asked.html).not.toContain(TOKEN)
    expect(formIn(asked.html)).toMatchObject({ name: 'put_order' })
  })

  it('is refused like any other form: signed out, without the token of the page, for a tool of someone else', async () => {
    const fields = { url: command(), import: 'curl' }
    const stranger = createPageBrowser(patchbay.origin)
    expect(await stranger.submit('/tool-preview', fields)).toMatchObject({ status: 303, location: '/sign-in' })
    const { browser } = await open()
    const forged = await browser.submit('/tool-preview', { ...fields, _csrf: 'wrong' })
    expect(forged.status).toBe(403)
    expect(forged.html).not.toContain(TOKEN)
    const ended = await open()
    ended.browser.cookies.clear()
    const late = await ended.browser.submit('/tool-preview', { ...fields, _user: ended.userId })
    expect(late.html).toContain('Sign in')
    expect(late.html).not.toContain(TOKEN)
    const owner = await open()
    const made = await owner.browser.submit('/toolkits/new-tool', {
      name: 'mine',
      method: 'GET',
      url: 'https://a.example/',
      toolkitTitle: 'Mine',
    })
    const tool = /\/tools\/([0-9a-f-]{36})/.exec(made.location ?? '')?.[1] ?? ''
    await browser.get('/toolkits/new-tool')
    expect((await browser.submit('/tool-preview', { ...fields, tool })).status).toBe(404)
  })

  it('cannot set a binding that is not valid', async () => {
    const { browser } = await open()
    const { status, html } = await browser.submit('/toolkits/new-tool', {
      name: 'mine',
      method: 'GET',
      url: 'https://a.example/{{id}}',
      toolkitTitle: 'Mine',
      'parameter:id:source': 'secret',
      'parameter:id:key': 'not a key',
    })
    expect(status).toBe(400)
    expect(html).toContain('Must start with a letter or _')
  })
})
