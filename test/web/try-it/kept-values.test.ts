import { expect, it } from 'vitest'
import { runPatchbay } from '../../support/world.ts'
import { openEditor } from '../editor-page.ts'

const patchbay = runPatchbay()

const RANDOM = 'a8F3kL9qZ2xW7vB4nM6cR1tY5uP0sD8e'

/** Returns the parameters whose values the browser may keep. */
const keptIn = (html: string): string[] =>
  [...html.matchAll(/<(?:input|select) [^>]*data-keep[^>]* name="value:([^"]+)"/g)].map(([, name = '']) => name)

it('values to try a tool with may be kept, but not those of parameters that may be secrets', async () => {
  const { browser } = await openEditor(patchbay.origin)
  const { html } = await browser.submit('/tool-preview', {
    name: 'echo',
    method: 'POST',
    url: 'https://a.example/{{id}}?api_key={{api_key?}}&page={{integer:page?}}&sort={{sort?}}&t={{session_token?}}',
    headers: 'Authorization: Bearer {{credential?}}\nX-Trace: {{trace?}}',
    body: '{"q": {{json:query?}}, "url": "{{link?}}"}',
    'parameter:sort:enum': 'asc\ndesc',
    'value:id': '7',
  })
  expect(keptIn(html).sort()).toEqual(['id', 'link', 'page', 'query', 'sort', 'trace'])
})

it.each([
  ['an ordinary text', 'Call me back, please', true],
  ['a long number', '12345678901234567890', true],
  ['a date', '2026-11-28', true],
  ['JSON', '{"name": "Ilse", "ids": [1, 2]}', true],
  ['a known form of token', 'sk-0123456789abcdef', false],
  ['a random text', RANDOM, false],
  ['a random text within another', `key ${RANDOM}, please`, false],
  ['an authentication scheme', 'Bearer short', false],
  ['JSON with the name of a secret', '{"user": {"password": "x"}}', false],
  ['a URL with a secret in its query', 'https://a.example/?access_token=x', false],
  ['a URL with a password', 'https://me:x@a.example/', false],
  ['a very long text', 'word '.repeat(3_000), false],
])('the value is kept unless it may be a secret: %s', async (_what, value, isKept) => {
  const { browser } = await openEditor(patchbay.origin)
  const { html } = await browser.submit('/tool-preview', {
    method: 'POST',
    url: 'https://a.example/',
    body: '{"note": "{{note?}}"}',
    'value:note': value,
  })
  expect(keptIn(html)).toEqual(isKept ? ['note'] : [])
})
