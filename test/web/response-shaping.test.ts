import { expect, it } from 'vitest'
import { runFakeApi, runPatchbay } from '../support/world.ts'
import { noteOf, openEditor } from './editor-page.ts'

const HOSTILE = '"><script>alert(1)</script>'
const patchbay = runPatchbay()
const fake = runFakeApi()

const form = (fields: Record<string, string> = {}) => ({
  name: 'echo',
  method: 'GET',
  url: `${fake.origin}/things`,
  toolkitTitle: 'Mine',
  ...fields,
})
/** Returns one of the two previews, without its markup. */
const side = (html: string, title: 'Before' | 'After'): string | undefined =>
  new RegExp(`<pre class="side-text"[^>]*aria-label="${title}">(.*?)</pre>`, 's')
    .exec(html)?.[1]
    ?.replaceAll(/<[^>]+>/g, '')
const sampleIn = (html: string): string => /name="sample" value="([^"]*)"/.exec(html)?.[1] ?? ''

it('a stored response is previewed with other rules for its user, and for nobody else', async () => {
  const { browser: person } = await openEditor(patchbay.origin)
  const sent = await person.submit('/tool-send', form())
  const sample = sampleIn(sent.html)
  expect(sample).toMatch(/^[0-9a-f-]{36}$/)
  const requests = fake.seen.length
  const transform = { transformLanguage: 'jmespath', transform: 'method' }
  const looked = await person.submit('/tool-preview', form({ sample, ...transform }))
  expect(side(looked.html, 'After')).toBe('GET')
  expect(side(looked.html, 'Before')).toContain('/things')
  expect(fake.seen).toHaveLength(requests)

  const { browser: stranger } = await openEditor(patchbay.origin)
  for (const id of [sample, 'made-up', HOSTILE]) {
    const { html } = await stranger.submit('/tool-preview', form({ sample: id, ...transform }))
    expect(side(html, 'After')).toBeUndefined()
    expect(html).toContain('Send the request again: the response is no longer stored')
    expect(html).not.toContain('<script>alert')
  }
})

it('invalid rules show errors beside their fields, and all input is kept', async () => {
  const { browser: person } = await openEditor(patchbay.origin)
  const typed = {
    transformLanguage: 'jsonata',
    transform: `a ] ${HOSTILE}`,
    dropFields: 'good\n\na..b',
    maxStringLength: 'many',
    htmlToMarkdown: 'yes',
  }
  const { status, html } = await person.submit('/toolkits/new-tool', form(typed))
  expect(status).toBe(400)
  expect(noteOf(html, 'transform')).toMatch(/^Line 1, column 3: not valid JSONata: /)
  expect(noteOf(html, 'dropFields')).toMatch(/^Line 2, column 3: write a path like items\[\]\.name/)
  expect(noteOf(html, 'maxStringLength')).toBe(
    'The max string length must be a whole number of characters from 20 to 1,000,000.',
  )
  expect(html).toContain('<option value="yes" selected>Convert to Markdown</option>')
  expect(html).toContain('a ] &quot;&gt;&lt;script&gt;')
  expect(html).not.toContain('<script>alert')
  const short = await person.submit('/toolkits/new-tool', form({ maxStringLength: '5' }))
  expect(noteOf(short.html, 'maxStringLength')).toBe(
    'The max string length must be a whole number of characters from 20 to 1,000,000.',
  )
})

it('saved rules are shown in the form, and removed by clearing it', async () => {
  const { browser: person } = await openEditor(patchbay.origin)
  const rules = {
    transformLanguage: 'jmespath',
    transform: 'a.\r\nb',
    dropFields: 'x\r\n  y[].z ',
    maxStringLength: '1,000',
  }
  const made = await person.submit('/toolkits/new-tool', form({ ...rules, htmlToMarkdown: 'yes' }))
  const id = /\/tools\/([0-9a-f-]{36})/.exec(made.location ?? '')?.[1] ?? ''
  const { db } = patchbay.services
  expect((await db.tool.findUniqueOrThrow({ where: { id } })).definition).toMatchObject({
    response: {
      htmlToMarkdown: true,
      dropFields: ['x', 'y[].z'],
      transform: { language: 'jmespath', expression: 'a.\nb' },
      maxStringLength: 1_000,
    },
  })
  const { html } = await person.get(`/tools/${id}`)
  expect(html).toContain('<option value="jmespath" selected>JMESPath</option>')
  expect(html).toMatch(/id="transform"[^>]*>\na\.\nb</)
  await person.submit(`/tools/${id}`, form())
  expect((await db.tool.findUniqueOrThrow({ where: { id } })).definition).not.toHaveProperty('response')
})

it('a response is stored with the secrets of its tool masked', async () => {
  const { browser: person } = await openEditor(patchbay.origin)
  const server = await person.submit('/servers/new', { name: 'Desk', access: 'private' })
  const serverId = server.location?.split('/')[2]?.split('?')[0] ?? ''
  const row = await patchbay.services.db.server.findUniqueOrThrow({ where: { id: serverId } })
  const actor = await patchbay.services.accounts.findActorByUserId(row.ownerId)
  if (actor === undefined) throw new Error('user not found')
  const secret = { value: 'very-secret-value', secret: true, origins: [fake.origin] }
  await patchbay.services.globals.putGlobal(actor, serverId, 'key', secret)
  const fields = form({ headers: 'X-Key: {{key}}', serverId })
  const { html } = await person.submit('/tool-send', fields)
  expect(fake.seen.at(-1)?.headers['x-key']).toBe('very-secret-value')
  const transform = { transformLanguage: 'jsonata', transform: '$base64encode(headers.`x-key`)' }
  const looked = await person.submit('/tool-preview', { ...fields, sample: sampleIn(html), ...transform })
  expect(side(looked.html, 'Before')).toContain('•••')
  expect(looked.html).not.toContain('very-secret')
  expect(looked.html).not.toContain(Buffer.from('very-secret-value').toString('base64').slice(0, 12))
})
