import { SaxesParser } from 'saxes'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { makeServer } from '../support/api-client.ts'
import { runFakeApi, runPatchbay, runUser } from '../support/world.ts'

const HOSTILE = [
  '</a><b>',
  '"><x y="',
  "'><x y='",
  '&lt;&#60;]]>',
  '<!--',
  '\r\n--part-7\r\n\r\nx',
  '; admin=1',
  'a\tb\nc',
  'Grüße 😀 €',
]

const Result = z.object({ content: z.tuple([z.object({ text: z.string() })]), isError: z.boolean().optional() })
const Refused = z.object({ errors: z.array(z.object({ path: z.string(), message: z.string() })) })

const header = (name: string, value: string) => ({ name, value })
const XML = [header('Content-Type', 'application/xml')]
const MULTIPART = [header('Content-Type', 'multipart/form-data; boundary=part-7')]

describe('a value in the request of an HTTP tool', () => {
  const patchbay = runPatchbay()
  const builder = runUser(patchbay)
  const fake = runFakeApi()

  type Parts = { headers?: { name: string; value: string }[]; body?: string }
  const define = (parts: Parts) => ({ name: 'tool', method: 'POST', url: `${fake.origin}/`, ...parts })

  /** Returns a function that calls a tool with these parts. It returns the request, or the error of the call. */
  const tool = async (parts: Parts) => {
    const { instanceIds } = await makeServer(builder, [define(parts)])
    return async (args: Record<string, string>) => {
      const before = fake.seen.length
      const { body } = await builder.expectOk('POST', `/instances/${instanceIds.tool}/call`, { arguments: args })
      const { content, isError } = Result.parse(body)
      const request = fake.seen[before]
      return { request, error: isError === true ? content[0].text : undefined }
    }
  }

  const errorsOf = async (parts: Parts): Promise<string[]> => {
    const toolkit = await builder.create('/toolkits', { title: 'Refused' })
    const { status, body } = await builder.send('POST', `/toolkits/${toolkit.id}/tools`, define(parts))
    expect(status).toBe(400)
    return Refused.parse(body).errors.map(({ path, message }) => `${path} ${message}`)
  }

  describe('in XML', () => {
    /** Parses XML into a list of its tags, attributes and texts. */
    const read = (xml: string): string[] => {
      const found: string[] = []
      const parser = new SaxesParser()
      parser.on('error', error => {
        throw error
      })
      parser.on('opentag', ({ name, attributes }) => found.push(name, JSON.stringify(attributes)))
      parser.on('text', text => found.push(text))
      parser.write(xml).close()
      return found
    }

    it.each(['application/xml', 'text/xml; charset=utf-8', 'application/soap+xml; charset="UTF-8"'])(
      'is the text of its element and the value of its attribute: %s',
      async type => {
        const body = `<?xml version="1.0"?><a k="1" b="-{{b}}-" c='{{c}}'>x{{t}}y<d/></a>`
        const call = await tool({ headers: [header('Content-Type', type)], body })
        for (const value of HOSTILE) {
          const { request } = await call({ b: value, c: value, t: value })
          const attributes = JSON.stringify({ k: '1', b: `-${value}-`, c: value })
          expect(read(request?.body ?? '')).toEqual(['a', attributes, `x${value}y`, 'd', '{}'])
        }
      },
    )

    it('is refused if XML cannot represent it', async () => {
      const call = await tool({ headers: XML, body: '<a>{{t}}</a>' })
      for (const t of ['\x01', '\x1b', '\uffff']) {
        const { request, error } = await call({ t })
        expect(request).toBeUndefined()
        expect(error).toBe('"t": must not contain control characters, because XML cannot represent them')
      }
    })

    it('is sent unchanged if it is the whole body and well-formed', async () => {
      const call = await tool({ headers: XML, body: '{{xml}}\n' })
      for (const xml of ['<a b="&lt;">\r\n<![CDATA[<]]></a>', '<?xml version="1.0" encoding="UTF-8"?><ü/>']) {
        expect((await call({ xml })).request?.body).toBe(xml)
      }
    })

    it.each([
      '',
      'text',
      '<a>',
      '<a/><b/>',
      '<a b=1/>',
      '<a>&nbsp;</a>',
      '<a>\x01</a>',
      '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
      '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
      '<?xml version="1.0" encoding="UTF-7"?><!-- +AC0ALQA+- +ADwAIQ-DOCTYPE a SYSTEM +ACI-x+ACIAPgA8ACEALQAt- --><a/>',
      `<a>${'x'.repeat(262_144)}</a>`,
    ])(
      'is refused as the whole body unless it is well-formed, short, in UTF-8 and without a DOCTYPE: %.60j',
      async xml => {
        const call = await tool({ headers: XML, body: '{{xml}}' })
        const { request, error } = await call({ xml })
        expect(request).toBeUndefined()
        expect(error).toBe(
          '"xml": must be a well-formed XML document in UTF-8 of at most 262144 characters without a DOCTYPE, because it is sent unchanged as the whole body',
        )
      },
    )

    it.each([
      { body: '<a>\n<!-- {{x}} --></a>', error: 'line 2, column 6: a placeholder cannot be in an XML comment' },
      { body: '<a><![CDATA[{{x}}]]></a>', error: 'line 1, column 13: a placeholder cannot be in a CDATA section' },
      { body: '<a><?p {{x}}?></a>', error: 'line 1, column 8: a placeholder cannot be in a processing instruction' },
      { body: '<!DOCTYPE a "{{x}}"><a/>', error: 'line 1, column 14: a placeholder cannot be in a DOCTYPE' },
      { body: '<a{{x}}/>', error: 'line 1, column 3: a placeholder cannot be in the name of an element' },
      { body: '<{{x}}></{{x}}>', error: 'line 1, column 2: a placeholder cannot be in the name of an element' },
      { body: '<a {{x}}="1"/>', error: 'line 1, column 4: a placeholder cannot be in the name of an attribute' },
      { body: '<?xml version="1.0"?>{{x}}', error: 'the body is not well-formed XML: text data outside of root node' },
      { body: '<a>&{{x}};</a>', error: 'the body is not well-formed XML: undefined entity' },
      { body: '<a b={{x}}/>', error: 'the body is not well-formed XML' },
      { body: '<a>{{x}}</b>', error: 'the body is not well-formed XML' },
      { body: '{{json:x}}', error: 'line 1, column 1: a placeholder that is the whole XML body must have type string' },
      { body: '<?xml version="1.0" encoding="UTF-7"?><a>{{x}}</a>', error: 'the body is sent as UTF-8' },
    ])('is not allowed elsewhere: $body', async ({ body, error }) => {
      const [first = ''] = await errorsOf({ headers: XML, body })
      expect(first).toMatch(/^body line /)
      expect(first).toContain(error)
    })

    it('is not allowed if the Content-Type names another charset', async () => {
      const headers = [header('Content-Type', 'text/xml; charset=utf-16')]
      for (const body of ['<a>{{x}}</a>', '{{x}}']) {
        const [first] = await errorsOf({ headers, body })
        expect(first).toContain('the body is sent as UTF-8')
      }
    })
  })

  describe('in a multipart body', () => {
    const body = [
      '--part-7',
      'Content-Disposition: form-data; name="file"; filename="{{file?}}"',
      'Content-Type: {{type=text/plain}}',
      '',
      'x{{a}}{{b?}}y',
      '--part-7--',
      '',
    ].join('\r\n')

    it('is the content of its part', async () => {
      const call = await tool({ headers: MULTIPART, body })
      for (const a of HOSTILE.filter(value => !value.includes('part-7'))) {
        const { request } = await call({ a })
        const form = await new Response(request?.body ?? '', { headers: { 'content-type': MULTIPART[0]?.value ?? '' } })
          .formData()
          .then(data => [...data])
        expect(form).toHaveLength(1)
        expect(request?.body.split('\r\n--part-7')[0]?.split('\r\n\r\n').slice(1).join('\r\n\r\n')).toBe(`x${a}y`)
      }
    })

    it('is refused if it contains the boundary, alone or with the value beside it', async () => {
      const call = await tool({ headers: MULTIPART, body })
      for (const args of [{ a: '\r\n--part-7\r\n\r\nx' }, { a: 'part-7' }, { a: '\r\n--par', b: 't-7--' }]) {
        const { request, error } = await call(args)
        expect(request).toBeUndefined()
        expect(error).toMatch(/^"\w+": must not contain the boundary of the multipart body/)
      }
    })

    it('is refused if it could end a header of its part, or a parameter in it', async () => {
      const call = await tool({ headers: MULTIPART, body })
      for (const file of ['a\r\nX: y', 'a\nb', 'a\rb', '\x01', 'a"; name="b', 'a\\']) {
        const { request, error } = await call({ a: '', file })
        expect(request).toBeUndefined()
        expect(error).toMatch(/^"file": must not contain line breaks/)
      }
      expect((await call({ a: '', type: 'a/b\r\n\r\nc' })).error).toMatch(/^"type": must not contain line breaks/)
      const { request } = await call({ a: '', file: 'Grüße; 1.txt', type: 'text/plain; charset="utf-8"' })
      expect(request?.body).toContain('filename="Grüße; 1.txt"\r\nContent-Type: text/plain; charset="utf-8"\r\n\r\n')
    })

    it('is refused if it contains the boundary of a part that has parts itself', async () => {
      const parts = ['--part-7', 'Content-Type: multipart/mixed; boundary="in ner"', '', '--in ner', '', '{{a}}']
      const call = await tool({ headers: MULTIPART, body: [...parts, '--in ner--', '--part-7--'].join('\n') })
      expect((await call({ a: '\r\n--in ner--' })).error).toMatch(/^"a": must not contain the boundary/)
      expect((await call({ a: 'inner' })).request?.body).toContain('\n\ninner\n--in ner--')
    })

    it('is sent unchanged if it is the whole body', async () => {
      const call = await tool({ headers: MULTIPART, body: '{{all}}' })
      const all = '--part-7\r\n\r\na\r\n--part-7--'
      expect((await call({ all })).request?.body).toBe(all)
    })

    it.each([
      { body: '--part-7{{x}}\r\n\r\n--part-7--', error: 'line 1, column 9: a placeholder cannot be on the line' },
      { body: '{{x}}--part-7\r\n\r\n--part-7--', error: 'line 1, column 1: a placeholder cannot be on the line' },
      {
        body: '--part-7\r\n{{x}}: a\r\n\r\n--part-7--',
        error: 'line 2, column 1: a placeholder in a header of a part',
      },
      { body: '--part-7\r\n{{x}}\r\n\r\n--part-7--', error: 'line 2, column 1: a placeholder in a header of a part' },
      {
        body: '--part-7\nContent-Type: multipart/mixed; boundary={{x}}\n\n',
        error: 'a placeholder cannot be in a boundary',
      },
    ])('is not allowed on a delimiter or in the name of a header: $body', async ({ body, error }) => {
      expect((await errorsOf({ headers: MULTIPART, body }))[0]).toContain(error)
    })

    it('is not allowed without a boundary', async () => {
      const headers = [header('Content-Type', 'multipart/form-data')]
      expect((await errorsOf({ headers, body: 'a{{x}}' }))[0]).toContain('the Content-Type has no boundary')
    })
  })

  describe('in the Cookie header', () => {
    it('has every character that could end it percent-encoded', async () => {
      const call = await tool({ headers: [header('cookie', 'a={{a}}; b=x{{b}}={{c}}; d=1')] })
      const { request } = await call({ a: '; admin=1', b: '"\\,\r\n', c: 'ü%3B=é' })
      expect(request?.headers.cookie).toBe('a=%3B%20admin=1; b=x%22%5C%2C%0D%0A=%C3%BC%3B=%C3%A9; d=1')
    })

    it('is sent unchanged if it is the whole header', async () => {
      const call = await tool({ headers: [header('Cookie', '{{cookies}}')] })
      expect((await call({ cookies: 'a=1; b="2"' })).request?.headers.cookie).toBe('a=1; b="2"')
    })

    it.each(['{{x}}=1', 'a=1; {{x}}', 'a=1, {{x}}', '{{x}}; b=1', '={{x}}'])(
      'is not allowed as a name: %s',
      async value => {
        expect((await errorsOf({ headers: [header('Cookie', value)] }))[0]).toMatch(
          /^headers\[0\]\.value line 1, column \d+: a placeholder in the Cookie header must follow a name/,
        )
      },
    )
  })
})
