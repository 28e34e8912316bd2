import fc from 'fast-check'
import { SaxesParser } from 'saxes'
import { describe, expect, it } from 'vitest'
import { compileTemplate } from '../../src/templates/compile.ts'
import type { RenderedRequest } from '../../src/templates/template.ts'
import { runsOf } from '../support/cases-of-run.ts'
import { compiled, template, valuesOf } from './compiling.ts'
import { nastyJson, nastyText, throughJson } from './nasty.ts'

/** Template text with placeholders, and a function that returns its meaning for given values. */
type Written = { source: string; meaning: (values: ReadonlyMap<string, string>) => string }

const STATIC = fc.constantFrom('', 'a', 'b-', '.', 'v1.', '_', '~', 'x y', 'ü', '%41', '%2e', '!$()*')

const decoded = (text: string): string => decodeURIComponent(text)

/** Builds `text{{p0}}text…`, numbering the parameters from `from` on. The meaning is the decoded text. */
const writtenWith = (texts: readonly string[], from: number): Written => ({
  source: texts.map((text, index) => (index === 0 ? text : `{{p${from + index - 1}}}${text}`)).join(''),
  meaning: values =>
    texts
      .map(
        (text, index) => (index === 0 ? '' : (values.get(`p${from + index - 1}`) ?? '').toWellFormed()) + decoded(text),
      )
      .join(''),
})

/** Builds several pieces and numbers their placeholders consecutively. */
const pieces = (texts: readonly (readonly string[])[]): readonly Written[] => {
  let next = 0
  return texts.map(parts => {
    const written = writtenWith(parts, next)
    next += parts.length - 1
    return written
  })
}

const isDots = (text: string): boolean => /^(?:\.|%2e){0,2}$/i.test(text)

const SEGMENT = fc
  .array(STATIC, { minLength: 1, maxLength: 3 })
  .filter(texts => texts.length > 1 || !isDots(texts[0] ?? ''))
const QUERY_VALUE = fc.array(STATIC, { minLength: 1, maxLength: 3 })

const valuesFor = (texts: readonly (readonly string[])[]): fc.Arbitrary<ReadonlyMap<string, string>> => {
  const count = texts.reduce((sum, parts) => sum + parts.length - 1, 0)
  return fc
    .array(nastyText, { minLength: count, maxLength: count })
    .map(values => new Map(values.map((value, index) => [`p${index}`, value])))
}

describe('any values in the path and the query of a fixed origin', () => {
  it('change neither the origin nor other segments, keys or values', () => {
    const cases = fc
      .tuple(fc.array(SEGMENT, { minLength: 1, maxLength: 4 }), fc.array(QUERY_VALUE, { minLength: 1, maxLength: 4 }))
      .chain(([segments, query]) => fc.tuple(fc.constant({ segments, query }), valuesFor([...segments, ...query])))
    fc.assert(
      fc.property(cases, ([{ segments, query }, values]) => {
        const written = pieces([...segments, ...query])
        const path = written.slice(0, segments.length)
        const pairs = written.slice(segments.length)
        const url = `https://api.example.com:8443/${path.map(segment => segment.source).join('/')}?${pairs.map((pair, index) => `k${index}=${pair.source}`).join('&')}`
        const result = compiled({ url }).render(values)
        if (!result.ok) {
          expect(['', '.', '..']).toContain(values.get(result.error.parameter))
          return
        }
        const parsed = new URL(result.value.url)
        expect(parsed.origin).toBe('https://api.example.com:8443')
        expect([parsed.username, parsed.password, parsed.hash]).toEqual(['', '', ''])
        expect(parsed.pathname.split('/').map(decoded)).toEqual(['', ...path.map(segment => segment.meaning(values))])
        expect([...parsed.searchParams]).toEqual(pairs.map((pair, index) => [`k${index}`, pair.meaning(values)]))
        expect(parsed.href).toBe(result.value.url)
      }),
      { numRuns: runsOf(500) },
    )
  })
})

describe('any missing values of a query', () => {
  it('remove their own keys and no others', () => {
    fc.assert(
      fc.property(fc.array(fc.option(nastyText), { minLength: 1, maxLength: 5 }), values => {
        const pairs = values.map((_, index) => (index % 2 === 0 ? `k${index}=<{{p${index}?}}` : `k${index}=s`))
        const given = new Map(values.flatMap((value, index) => (value === null ? [] : [[`p${index}`, value] as const])))
        const result = compiled({ url: `https://api.example.com/?${pairs.join('&')}` }).render(given)
        const expected = values.flatMap((value, index) => {
          if (index % 2 === 1) return [[`k${index}`, 's']]
          return value === null ? [] : [[`k${index}`, `<${value.toWellFormed()}`]]
        })
        expect(result.ok && [...new URL(result.value.url).searchParams]).toEqual(expected)
      }),
    )
  })
})

describe('any value in the host', () => {
  it('is one label, or rejected', () => {
    fc.assert(
      fc.property(fc.oneof(nastyText, fc.stringMatching(/^[A-Za-z0-9-]{1,8}$/)), label => {
        const result = compiled({ url: 'https://api.{{label}}.example.com/x/{{id}}' }).render(
          valuesOf({ label, id: 'i' }),
        )
        if (result.ok) expect(result.value.url).toBe(`https://api.${label.toLowerCase()}.example.com/x/i`)
        else expect(label).not.toMatch(/^[a-z0-9]+$/)
      }),
    )
  })

  it('never results in an IP address', () => {
    const label = fc.oneof(fc.nat(300).map(String), fc.constantFrom('0x7f', '2130706433', '0177', 'localhost', 'a'))
    fc.assert(
      fc.property(fc.array(label, { minLength: 1, maxLength: 4 }), labels => {
        const url = `https://${labels.map((_, index) => `{{p${index}}}`).join('.')}/`
        const result = compiled({ url }).render(
          valuesOf(Object.fromEntries(labels.map((value, i) => [`p${i}`, value]))),
        )
        if (result.ok) expect(new URL(result.value.url).hostname).toBe(labels.join('.'))
        expect(result.ok).toBe(['localhost', 'a'].includes(labels.at(-1) ?? ''))
      }),
    )
  })
})

describe('any value as the base of the URL', () => {
  const BASES = fc.oneof(
    nastyText,
    fc.webUrl({ withQueryParameters: true, withFragments: true }),
    fc.tuple(fc.webUrl(), nastyText).map(([url, text]) => url + text),
    nastyText.map(text => `https://a.example${text}`),
  )

  it('is an origin and a path, or rejected', () => {
    const { render } = compiled({ url: '{{url:base}}/users/{{id}}?q={{q}}' })
    fc.assert(
      fc.property(BASES, nastyText, nastyText, (base, id, q) => {
        const result = render(valuesOf({ base, id, q }))
        if (!result.ok) return
        const parsed = new URL(result.value.url)
        const own = new URL(base)
        expect(parsed.href).toBe(result.value.url)
        expect(parsed.origin).toBe(own.origin)
        expect(parsed.pathname.startsWith(own.pathname.replace(/\/+$/, ''))).toBe(true)
        expect(parsed.pathname.split('/').slice(-2).map(decoded)).toEqual(['users', id.toWellFormed()])
        expect([...parsed.searchParams]).toEqual([['q', q.toWellFormed()]])
        expect([parsed.username, parsed.password, parsed.hash]).toEqual(['', '', ''])
      }),
      { numRuns: runsOf(500) },
    )
  })
})

/** A node of a JSON template: its source, and a function that returns its meaning for given values. */
type JsonNode = { source: string; meaning: (values: ReadonlyMap<string, unknown>) => unknown; goes?: string }

const GONE = Symbol('gone')
const BLANK = fc.constantFrom('', ' ', '\n\t')

/** Escapes double braces in JSON text, so that they are not placeholders. */
const escaped = (json: string): string => json.replaceAll('{{', '\\{{')

const literal: fc.Arbitrary<JsonNode> = fc
  .oneof(fc.integer(), fc.boolean(), fc.constant(null), nastyText)
  .map(value => ({ source: escaped(JSON.stringify(value)), meaning: () => throughJson(value) }))

const whole: fc.Arbitrary<JsonNode> = fc
  .tuple(fc.constantFrom('a', 'b', 'c'), fc.boolean())
  .map(([name, optional]) => ({
    source: `{{json:${name}${optional ? '?' : ''}}}`,
    meaning: values => (values.has(name) ? throughJson(values.get(name)) : GONE),
  }))

const inString: fc.Arbitrary<JsonNode> = fc
  .tuple(nastyText, fc.constantFrom('s', 't'), nastyText)
  .filter(([before]) => !before.endsWith('{'))
  .map(([before, name, after]) => ({
    source: `"${escaped(JSON.stringify(before).slice(1, -1))}{{${name}?}}${escaped(JSON.stringify(after).slice(1, -1))}"`,
    meaning: values => before + String(values.get(name) ?? '') + after,
  }))

const jsonTree = fc.letrec<{ node: JsonNode; array: JsonNode; object: JsonNode }>(tie => ({
  node: fc.oneof({ depthSize: 'small' }, literal, whole, inString, tie('array'), tie('object')),
  array: fc.tuple(BLANK, fc.array(tie('node'), { maxLength: 4 })).map(([blank, nodes]) => ({
    source: `[${blank}${nodes.map(node => node.source).join(`${blank},${blank}`)}${blank}]`,
    meaning: values => nodes.map(node => node.meaning(values)).filter(value => value !== GONE),
  })),
  object: fc
    .tuple(BLANK, fc.uniqueArray(nastyText, { maxLength: 4 }), fc.array(tie('node'), { minLength: 4, maxLength: 4 }))
    .map(([blank, keys, nodes]) => ({
      source: `{${keys.map((key, index) => `${blank}${escaped(JSON.stringify(key))}${blank}:${blank}${nodes[index]?.source}${blank}`).join(',')}}`,
      meaning: values =>
        Object.fromEntries(
          keys.map((key, index) => [key, nodes[index]?.meaning(values)] as const).filter(([, value]) => value !== GONE),
        ),
    })),
}))

describe('any values in a JSON body', () => {
  it('keep their meaning, and the rest of the text does not change', () => {
    const values = fc.record(
      { a: nastyJson, b: nastyJson, c: nastyJson, s: nastyText, t: nastyText },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.oneof(jsonTree.array, jsonTree.object), values, (tree, record) => {
        const result = compileTemplate(template({ body: tree.source }))
        if (!result.ok) throw new Error(JSON.stringify(result.error))
        expect(result.value.bodyKind).toBe('json')
        const given = new Map(Object.entries(record))
        const request = result.value.render(valuesOf(Object.fromEntries(given)))
        const missing = result.value.parameters.find(({ name, required }) => required && !given.has(name))
        expect(request.ok).toBe(missing === undefined)
        if (request.ok) expect(JSON.parse(request.value.body ?? '')).toEqual(tree.meaning(given))
      }),
      { numRuns: runsOf(500) },
    )
  })
})

describe('any value in a form body', () => {
  it('is the value of its own key only', () => {
    const headers = [{ name: 'Content-Type', value: 'application/x-www-form-urlencoded' }]
    const { render } = compiled({ headers, body: 'a={{a}}&b=x{{b}}y&c={{c?}}&d=1' })
    fc.assert(
      fc.property(nastyText, nastyText, fc.option(nastyText), (a, b, c) => {
        const result = render(valuesOf(c === null ? { a, b } : { a, b, c }))
        expect(result.ok && [...new URLSearchParams(result.value.body)]).toEqual([
          ['a', a.toWellFormed()],
          ['b', `x${b.toWellFormed()}y`],
          ...(c === null ? [] : [['c', c.toWellFormed()]]),
          ['d', '1'],
        ])
      }),
    )
  })
})

describe('any value in a header', () => {
  it("is the header's value, or rejected", () => {
    const { render } = compiled({
      headers: [
        { name: 'X-First', value: '1' },
        { name: 'X-Mine', value: 'a={{x}}; b' },
        { name: 'X-Last', value: '2' },
      ],
    })
    fc.assert(
      fc.property(nastyText, x => {
        const result = render(valuesOf({ x }))
        if (!result.ok) {
          expect([...x].some(char => !/[\t\x20-\x7e\x80-\xff]/.test(char))).toBe(true)
          return
        }
        const sent = new Headers(result.value.headers.map(([name, value]) => [name, value]))
        expect([...sent]).toEqual([
          ['x-first', '1'],
          ['x-last', '2'],
          ['x-mine', `a=${x}; b`],
        ])
      }),
    )
  })
})

/** Parses XML into a list of its events. Throws if it is not well-formed. */
const readXml = (xml: string): string[] => {
  const events: string[] = []
  const parser = new SaxesParser()
  parser.on('error', error => {
    throw error
  })
  parser.on('opentag', tag => events.push(`<${tag.name} ${JSON.stringify(tag.attributes)}`))
  parser.on('closetag', ({ name }) => events.push(`/${name}`))
  parser.on('text', text => events.push(text))
  parser.on('comment', text => events.push(`comment ${text}`))
  parser.on('cdata', text => events.push(`cdata ${text}`))
  parser.on('processinginstruction', ({ target }) => events.push(`instruction ${target}`))
  parser.write(xml).close()
  return events
}

const xmlText = fc.oneof(
  nastyText,
  fc
    .array(fc.constantFrom(']]>', '<![CDATA[', '-->', '<!--', '?>', '</a>', '<b/>', '&lt;', '&#x3c;', '&', ';'), {
      maxLength: 5,
    })
    .map(parts => parts.join('')),
)
const isXmlText = (text: string): boolean =>
  !/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(text.toWellFormed())

describe('any value in an XML body', () => {
  const headers = [{ name: 'Content-Type', value: 'application/xml' }]

  it('is the text of its element or the value of its attribute, or rejected', () => {
    const body = `<?xml version="1.0"?><a p="x{{p}}y" q='{{q?}}'>]]{{t}}{{u?}}<b/><!-- c --></a>`
    const { render } = compiled({ headers, body })
    fc.assert(
      fc.property(xmlText, fc.option(xmlText), xmlText, fc.option(xmlText), (p, q, t, u) => {
        const given = { p, t, ...(q !== null && { q }), ...(u !== null && { u }) }
        const result = render(valuesOf(given))
        expect(result.ok).toBe(Object.values(given).every(isXmlText))
        if (!result.ok) return
        const attributes = { p: `x${p.toWellFormed()}y`, q: (q ?? '').toWellFormed() }
        expect(readXml(result.value.body ?? '')).toEqual([
          `<a ${JSON.stringify(attributes)}`,
          `]]${t.toWellFormed()}${(u ?? '').toWellFormed()}`,
          '<b {}',
          '/b',
          'comment  c ',
          '/a',
        ])
      }),
      { numRuns: runsOf(500) },
    )
  })

  it('is the whole body unchanged, if it is well-formed, or rejected', () => {
    const { render } = compiled({ headers, body: '{{xml}}' })
    const documents = fc.oneof(
      xmlText,
      xmlText.map(text => `<a>${text}</a>`),
      xmlText.map(text => `<a b="${text}"/>`),
      xmlText.map(text => `${text}<a/>`),
    )
    fc.assert(
      fc.property(documents, xml => {
        const result = render(valuesOf({ xml }))
        if (!result.ok) return
        expect(result.value.body).toBe(xml)
        expect(() => readXml(xml)).not.toThrow()
      }),
      { numRuns: runsOf(500) },
    )
  })

  it('is rejected as the whole body if it has half of a surrogate pair, which a parser may join with the next character', () => {
    const { render } = compiled({ headers, body: '{{xml}}' })
    expect(render(valuesOf({ xml: '<a>\ud800<b></a>' })).ok).toBe(false)
  })

  it.each(['UTF-7', 'utf-16', 'ISO-8859-1', 'IBM037'])(
    'is rejected as the whole body if it declares the encoding %s, in which it could have a DOCTYPE',
    encoding => {
      const { render } = compiled({ headers, body: '{{xml}}' })
      const comment = '<!-- +AC0ALQA+- +ADwAIQ-DOCTYPE a SYSTEM +ACI-file:///etc/passwd+ACIAPgA8ACEALQAt- -->'
      const withEncoding = (name: string) => valuesOf({ xml: `<?xml version="1.0" encoding="${name}"?>${comment}<a/>` })
      expect(render(withEncoding('utf-8')).ok).toBe(true)
      expect(render(withEncoding(encoding)).ok).toBe(false)
    },
  )

  it('can be placed anywhere in any text, or saving is refused', () => {
    const pieces = fc.array(
      fc.constantFrom(
        '{{x}}',
        '<a>',
        '</a>',
        '<a ',
        'b="',
        '"',
        '/>',
        '<!--',
        '-->',
        '<![CDATA[',
        ']]>',
        '&',
        ';',
        '\n',
      ),
      { maxLength: 10 },
    )
    fc.assert(
      fc.property(pieces, xmlText, (parts, x) => {
        const result = compileTemplate(template({ headers, body: parts.join('') }))
        if (!result.ok || result.value.parameters.length === 0 || parts.join('').trim() === '{{x}}') return
        const rendered = result.value.render(valuesOf({ x }))
        const calm = result.value.render(valuesOf({ x: 'calm' }))
        if (!rendered.ok || !calm.ok) return
        const kinds = (xml = '') =>
          readXml(xml.replaceAll(/\n/g, '')).map(event => /^(?:<a|\/a|comment|cdata)/.exec(event)?.[0])
        expect(kinds(rendered.value.body).filter(Boolean)).toEqual(kinds(calm.value.body).filter(Boolean))
      }),
      { numRuns: runsOf(1_000) },
    )
  })
})

describe('any value in a multipart body', () => {
  const headers = [{ name: 'Content-Type', value: 'multipart/form-data; boundary=aa' }]
  const body = [
    '--aa',
    'Content-Disposition: form-data; name="{{name}}"; filename=x{{file}}',
    '',
    '{{a}}{{b}}',
    '--aa',
    'Content-Disposition: form-data; name="last"',
    '',
    'fixed',
    '--aa--',
    '',
  ].join('\r\n')
  const { render } = compiled({ headers, body })
  const part = fc.oneof(
    nastyText,
    fc
      .array(fc.constantFrom('a', '-', '--', '\r\n', '\n', '"', ';', 'X: y'), { maxLength: 5 })
      .map(parts => parts.join('')),
  )

  it('is its whole part or, if it is missing and optional, leaves it out', () => {
    const field = (name: string, value: string) =>
      ['--aa', `Content-Disposition: form-data; name="${name}"`, '', value, ''].join('\r\n')
    const optional = compiled({
      headers,
      body: `${field('a', '{{a?}}')}${field('b', '{{b?}}')}${field('last', 'fixed')}--aa--\r\n`,
    })
    fc.assert(
      fc.property(fc.option(part), fc.option(part), (a, b) => {
        const values = Object.entries({ a, b }).flatMap(([name, value]) =>
          value === null ? [] : [[name, value] as const],
        )
        const result = optional.render(new Map(values))
        if (!result.ok) return
        const expected = [...values, ['last', 'fixed'] as const].map(([name, value]) =>
          field(name, value.toWellFormed()),
        )
        expect(result.value.body).toBe(`${expected.join('')}--aa--\r\n`)
      }),
    )
  })

  it('adds neither parts nor headers nor parameters of headers, or is rejected', () => {
    fc.assert(
      fc.property(part, part, part, part, (name, file, a, b) => {
        const result = render(valuesOf({ name, file, a, b }))
        if (!result.ok) return
        const [before, first = '', last, after, ...more] = (result.value.body ?? '').split('--aa')
        expect([before, last, after, more]).toEqual([
          '',
          '\r\nContent-Disposition: form-data; name="last"\r\n\r\nfixed\r\n',
          '--\r\n',
          [],
        ])
        const end = first.indexOf('\r\n\r\n')
        expect(first.slice(end)).toBe(`\r\n\r\n${a.toWellFormed()}${b.toWellFormed()}\r\n`)
        expect(first.slice(0, end)).toMatch(
          /^\r\nContent-Disposition: form-data; name="[^"\\\r\n]*"; filename=x[^";\\\r\n]*$/,
        )
      }),
      { numRuns: runsOf(500) },
    )
  })
})

describe('any value in the Cookie header', () => {
  it('is the value of its own cookie, in characters that cannot end it', () => {
    const { render } = compiled({ headers: [{ name: 'Cookie', value: 'a={{a}}; b=x{{b}}y; c=1' }] })
    fc.assert(
      fc.property(nastyText, nastyText, (a, b) => {
        const result = render(valuesOf({ a, b }))
        const [, cookie = ''] = (result.ok && result.value.headers[0]) || []
        expect(cookie).toMatch(/^a=[!#-+\--:<-[\]-~]*; b=x[!#-+\--:<-[\]-~]*y; c=1$/)
        const [first = ''] = cookie.split('; ')
        // A percent sign is sent as it is, so that encoded values are not encoded twice.
        if (!a.includes('%')) expect(decodeURIComponent(first.slice(2))).toBe(a.toWellFormed())
      }),
    )
  })
})

describe('any value of one parameter of a whole request', () => {
  const parts = {
    url: 'https://api.example.com/{{path}}/fixed?q={{query}}&r=1',
    headers: [
      { name: 'X-A', value: '{{header}}' },
      { name: 'X-B', value: 'fixed' },
    ],
    body: '{"whole": {{json:whole}}, "text": "<{{text}}>", "fixed": [1]}',
  }
  const harmless = { path: 'a', query: 'a', header: 'a', whole: 'a', text: 'a' }

  /** Splits a request into the value at each parameter's position and everything around these values. */
  const read = ({ method, url, headers, body }: RenderedRequest) => {
    const { origin, pathname, searchParams, hash } = new URL(url)
    const [, path, ...segments] = pathname.split('/')
    const { whole, text, ...members } = JSON.parse(body ?? '')
    const query = searchParams.get('q')
    searchParams.delete('q')
    return {
      places: { path, query, header: headers[0]?.[1], whole, text },
      around: { method, origin, segments, hash, search: [...searchParams], headers: headers.slice(1), members },
    }
  }

  it.each(Object.keys(harmless))('changes only its own position: %s', name => {
    const { render } = compiled(parts)
    const first = render(valuesOf(harmless))
    if (!first.ok) throw new Error(first.error.message)
    const calm = read(first.value)
    fc.assert(
      fc.property(nastyText, value => {
        const result = render(valuesOf({ ...harmless, [name]: value }))
        if (!result.ok) {
          expect(result.error.parameter).toBe(name)
          return
        }
        const { places, around } = read(result.value)
        expect(around).toEqual(calm.around)
        expect({ ...places, [name]: '' }).toEqual({ ...calm.places, [name]: '' })
      }),
    )
  })
})

describe('any text as a template', () => {
  it('compiles and renders, or is rejected with positions inside the text', () => {
    const text = fc.oneof(
      nastyText,
      nastyText.map(tail => `https://a.example/${tail}`),
      nastyText.map(tail => `{"a": ${tail}`),
    )
    fc.assert(
      fc.property(text, text, text, (url, value, body) => {
        const result = compileTemplate(template({ url, headers: [{ name: 'X', value }], body }))
        const fields: Readonly<Record<string, string>> = { url, 'headers[0].value': value, body }
        if (!result.ok) {
          for (const { field, line, column, message } of result.error) {
            const lines = (fields[field] ?? '').split('\n')
            expect(line).toBeLessThanOrEqual(lines.length)
            expect(column).toBeLessThanOrEqual((lines[line - 1]?.length ?? 0) + 1)
            expect(message).not.toBe('')
          }
          return
        }
        result.value.render(new Map())
        result.value.render(new Map(result.value.parameters.map(({ name }) => [name, 'x'])))
      }),
      { numRuns: runsOf(500) },
    )
  })
})
