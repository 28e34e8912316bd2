import { describe, expect, it } from 'vitest'
import { compiled, refusal, rendered } from './compiling.ts'

describe('a url parameter at the start of the URL', () => {
  it.each([
    { url: '{{url:base}}/users', base: 'https://a.example/v1', becomes: 'https://a.example/v1/users' },
    { url: '{{url:base}}/users', base: 'https://a.example/v1///', becomes: 'https://a.example/v1/users' },
    { url: '{{url:base}}users', base: 'https://a.example', becomes: 'https://a.example/users' },
    { url: '{{url:base}}//users', base: 'https://a.example/', becomes: 'https://a.example/users' },
    { url: '{{url:base}}/', base: 'https://a.example/v1', becomes: 'https://a.example/v1/' },
    { url: '{{url:base}}', base: 'HTTP://A.example:80/x/../v1?k=1#top', becomes: 'http://a.example/v1?k=1' },
    { url: '{{url:base}}?q={{q}}', base: 'https://a.example/v1', becomes: 'https://a.example/v1?q=x%26y' },
    { url: '{{url:base}}/a?q={{q?}}', base: 'https://[::1]:8443', becomes: 'https://[::1]:8443/a?q=x%26y' },
    { url: '{{url:base}}.evil.example', base: 'https://a.example', becomes: 'https://a.example/.evil.example' },
    { url: '{{url:base}}@evil.example/', base: 'https://a.example', becomes: 'https://a.example/@evil.example/' },
  ])('becomes the base, one slash and the rest: $url with $base', ({ url, base, becomes }) => {
    expect(rendered({ url }, { base, q: 'x&y' }).url).toBe(becomes)
  })

  it.each([
    'ftp://a.example',
    '//a.example',
    'https:a.example',
    'https://user@a.example',
    'https://user:pw@a.example',
    'https://@a.example',
    'https://a.example/?q=1',
    'https://a.example/#top',
    'https://a.example\\b',
    'https://a\n.example',
    'https://',
    'javascript:alert(1)',
    '',
    1,
  ])('refuses %j', base => {
    expect(refusal({ url: '{{url:base}}/users' }, { base })).toMatch(/^base must be an absolute http or https URL/)
  })
})

describe('a placeholder in the host', () => {
  it.each([
    { label: 'acme', hostname: 'acme.example.com' },
    { label: 'Acme-2', hostname: 'acme-2.example.com' },
    { label: '42', hostname: '42.example.com' },
  ])('becomes the label $label', ({ label, hostname }) => {
    expect(new URL(rendered({ url: 'https://{{tenant}}.example.com:8443/' }, { tenant: label }).url).hostname).toBe(
      hostname,
    )
  })

  it.each(['', 'a.b', '-a', 'a-', 'a_b', 'a/b', 'a@b', 'a:1', 'ä', 'a b', '%61', '\u212a', 'x'.repeat(64)])(
    'rejects %j',
    tenant => {
      expect(refusal({ url: 'https://{{tenant}}.example.com/' }, { tenant })).toMatch(/^tenant must be one label/)
    },
  )

  it.each([
    { url: 'https://{{a}}/', values: { a: '2130706433' } },
    { url: 'https://{{a}}/', values: { a: '0x7f000001' } },
    { url: 'https://10.0.0.{{a}}/', values: { a: '1' } },
    { url: 'https://{{a}}.{{b}}.{{c}}.{{d}}/', values: { a: '127', b: '0', c: '0', d: '1' } },
    { url: 'https://example.{{a}}./', values: { a: '1' } },
  ])('refuses to make an address of $url', ({ url, values }) => {
    expect(refusal({ url }, values)).toBe('a does not result in a valid URL')
  })
})

describe('a placeholder in the path', () => {
  it.each([
    { value: 'a b', becomes: 'a%20b' },
    { value: 'a/b?c#d', becomes: 'a%2Fb%3Fc%23d' },
    { value: '../..', becomes: '..%2F..' },
    { value: '%2e%2e', becomes: '%252e%252e' },
    { value: '\\..\\', becomes: '%5C..%5C' },
    { value: '...', becomes: '...' },
    { value: 'é😀\ud800', becomes: '%C3%A9%F0%9F%98%80%EF%BF%BD' },
    { value: '{{id}}', becomes: '%7B%7Bid%7D%7D' },
    { value: 42, becomes: '42' },
    { value: true, becomes: 'true' },
  ])('becomes $becomes', ({ value, becomes }) => {
    expect(rendered({ url: 'https://api.example.com/users/{{id}}/x' }, { id: value }).url).toBe(
      `https://api.example.com/users/${becomes}/x`,
    )
  })

  it.each(['', '.', '..'])('rejects %j, also next to other text', value => {
    expect(refusal({ url: 'https://api.example.com/a/{{id}}' }, { id: value })).toMatch(/^id must not be empty/)
    expect(refusal({ url: 'https://api.example.com/a/.{{id}}' }, { id: value })).toMatch(/^id must not be empty/)
  })

  it('of type json becomes its JSON text', () => {
    const { url } = rendered({ url: 'https://api.example.com/{{json:a}}/{{json:b}}' }, { a: ['/'], b: '..' })
    expect(new URL(url).pathname.split('/').map(decodeURIComponent)).toEqual(['', '["/"]', '".."'])
  })
})

describe('a placeholder in a query value', () => {
  const url = 'https://api.example.com/s?first=1&q={{q?}}&mixed=a{{m?}}b{{n?}}&last'

  it.each([
    { values: { q: 'x&y=z#?+ ', m: '1', n: '2' }, search: '?first=1&q=x%26y%3Dz%23%3F%2B%20&mixed=a1b2&last' },
    { values: { m: '1', n: '2' }, search: '?first=1&mixed=a1b2&last' },
    { values: { q: '', m: '1' }, search: '?first=1&q=&last' },
    { values: {}, search: '?first=1&last' },
    { values: { q: "it's" }, search: '?first=1&q=it%27s&last' },
  ])('a missing optional one takes its key with it: $search', ({ values, search }) => {
    expect(new URL(rendered({ url }, values).url).search).toBe(search)
  })

  it.each([
    { url: 'https://a.example?a={{a?}}&b={{b?}}', values: {}, becomes: 'https://a.example/' },
    { url: 'https://a.example/x?a={{a?}}&b={{b?}}', values: { b: 1 }, becomes: 'https://a.example/x?b=1' },
    { url: 'https://a.example/x?a={{a?}}&b={{b?}}#top', values: { a: [1] }, becomes: 'https://a.example/x?a=%5B1%5D' },
  ])('$url becomes $becomes', ({ url: other, values, becomes }) => {
    expect(rendered({ url: other }, values).url).toBe(becomes)
  })

  it("leaves the template's text as WHATWG URL would", () => {
    const own = 'HTTPS://API.example.com:443/ä b/%7e/{{x}}?ü=a+b%20c&;=[1]&&e={{x}}'
    expect(rendered({ url: own }, { x: '1' }).url).toBe(
      'https://api.example.com/%C3%A4%20b/%7e/1?%C3%BC=a+b%20c&;=[1]&&e=1',
    )
  })
})

describe('a placeholder in a header', () => {
  it('is replaced unchanged, and a missing optional value removes its header', () => {
    const headers = [
      { name: 'Authorization', value: 'Bearer {{token}}' },
      { name: 'X-Trace', value: '{{trace?}}' },
      { name: 'X-Mixed', value: 'a={{trace?}}; b={{token}}' },
      { name: 'X-Fixed', value: 'a \\{{b}}' },
    ]
    expect(rendered({ headers }, { token: 'é "x"' }).headers).toEqual([
      ['Authorization', 'Bearer é "x"'],
      ['X-Fixed', 'a {{b}}'],
    ])
  })

  it.each(['a\r\nX-Evil: 1', 'a\nb', 'a\rb', 'a\0b', 'a\x7fb', '€', '\ud800'])('rejects %j', token => {
    const headers = [{ name: 'Authorization', value: 'Bearer {{token}}' }]
    expect(refusal({ headers }, { token })).toMatch(/^token must not contain line breaks/)
  })
})

describe('a placeholder in a JSON body', () => {
  it.each([
    { body: '{"a": {{integer:a}}, "b": {{boolean:b}}}', values: { a: 1, b: false }, becomes: '{"a": 1, "b": false}' },
    { body: '{"a": {{a}}}', values: { a: '1' }, becomes: '{"a": "1"}' },
    { body: '{"a": {{json:a}}}', values: { a: { b: [null] } }, becomes: '{"a": {"b":[null]}}' },
    { body: '{"a": {{json:a?}}}', values: { a: null }, becomes: '{"a": null}' },
    { body: '{"a": "x {{a}} y"}', values: { a: '"\\\n\ud800' }, becomes: '{"a": "x \\"\\\\\\n\\ud800 y"}' },
    { body: '{"a": "{{json:a}}"}', values: { a: ['"'] }, becomes: '{"a": "[\\"\\\\\\"\\"]"}' },
    { body: '{"a": "C:\\\\{{a}} \\{{b}}"}', values: { a: 'x' }, becomes: '{"a": "C:\\\\x {{b}}"}' },
    { body: '[{{integer:a}},{{a2?}} , 3]', values: { a: 1 }, becomes: '[1, 3]' },
    { body: '{"a":{{integer:a}}}', values: { a: 1 }, becomes: '{"a":1}' },
    { body: '"{{a}}"', values: { a: 'x' }, becomes: '"x"' },
  ])('$body becomes $becomes', ({ body, values, becomes }) => {
    expect(rendered({ body }, values).body).toBe(becomes)
  })

  it.each([
    { values: {}, becomes: '{}' },
    { values: { a: 1 }, becomes: '{ "a": 1}' },
    { values: { b: 2 }, becomes: '{ "b": 2}' },
    { values: { c: 3 }, becomes: '{ "c" : 3 }' },
    { values: { a: 1, c: 3 }, becomes: '{ "a": 1, "c" : 3 }' },
    { values: { a: 1, b: 2, c: 3 }, becomes: '{ "a": 1, "b": 2, "c" : 3 }' },
  ])('a missing optional value takes its key and its comma with it: $becomes', ({ values, becomes }) => {
    const body = '{ "a": {{json:a?}}, "b": {{json:b?}}, "c" : {{json:c?}} }'
    expect(rendered({ body }, values).body).toBe(becomes)
  })

  it('with a missing optional value is removed from its array or object, or left out of its string', () => {
    const body = '{"a": {"b": {{b?}}}, "c": [{{c?}}], "d": "<{{d?}}>"}'
    expect(rendered({ body }).body).toBe('{"a": {}, "c": [], "d": "<>"}')
  })

  it('leaves duplicate keys, __proto__ and blanks of the template unchanged', () => {
    const body = ' {"__proto__": {{x}},\n\t"a": 1, "a": 2e+0 } '
    expect(rendered({ body }, { x: 'y' }).body).toBe(' {"__proto__": "y",\n\t"a": 1, "a": 2e+0 } ')
  })

  it('that is the whole body and missing removes the body and its Content-Type', () => {
    expect(rendered({ body: '{{json:x?}}' })).toMatchObject({ headers: [], body: undefined })
    expect(rendered({ body: '{{json:x?}}' }, { x: [] })).toMatchObject({
      headers: [['content-type', 'application/json']],
      body: '[]',
    })
  })
})

describe('a placeholder in a form body', () => {
  const form = [{ name: 'Content-Type', value: 'application/x-www-form-urlencoded' }]

  it('is percent-encoded, and a missing optional value removes its key', () => {
    const body = 'a={{a}}&b={{b?}}&c=x+{{c?}}'
    expect(rendered({ headers: form, body }, { a: 'x&b=1 +%', c: 'y' }).body).toBe('a=x%26b%3D1%20%2B%25&c=x+y')
    expect(rendered({ headers: form, body: 'b={{b?}}' }).body).toBe('')
  })
})

describe('a placeholder in any other body', () => {
  it('becomes its text, and is empty if the value is missing', () => {
    const body = 'Hello {{name}}{{tail?}} \\{{x}} \\\\{{name}} {{integer:n=3}}'
    expect(rendered({ body }, { name: '<"\ud800>' }).body).toBe('Hello <"\ufffd> {{x}} \\<"\ufffd> 3')
  })
})

describe('the kind of a body', () => {
  const typed = (value: string) => [{ name: 'content-TYPE', value }]

  it.each([
    { body: '{"a": {{x}}}', kind: 'json', contentType: 'application/json' },
    { body: '{{json:x}}', kind: 'json', contentType: 'application/json' },
    { body: '{"a": "{{x}}"', kind: 'text', contentType: 'text/plain; charset=utf-8' },
    { body: 'Dear {{x}}', kind: 'text', contentType: 'text/plain; charset=utf-8' },
    { body: '1{{x}}', kind: 'text', contentType: 'text/plain; charset=utf-8' },
    { body: 'a={{x}}', kind: 'text', contentType: 'text/plain; charset=utf-8' },
  ])('without a Content-Type, $body is $kind and sent as $contentType', ({ body, kind, contentType }) => {
    expect(compiled({ body }).bodyKind).toBe(kind)
    expect(rendered({ body }, { x: 'y' }).headers).toEqual([['content-type', contentType]])
  })

  it.each([
    { type: 'application/json', kind: 'json' },
    { type: 'Application/Problem+JSON; charset=utf-8', kind: 'json' },
    { type: 'application/x-www-form-urlencoded;charset=utf-8', kind: 'form' },
    { type: 'text/plain', kind: 'text' },
    { type: 'application/jsonlines', kind: 'text' },
  ])('with Content-Type $type it is $kind, and the header stays the one that was written', ({ type, kind }) => {
    const parts = { headers: typed(type), body: kind === 'form' ? 'a={{x}}' : '{"a": {{x}}}' }
    expect(compiled(parts).bodyKind).toBe(kind)
    expect(rendered(parts, { x: 'y' }).headers.map(([name]) => name)).toEqual(['content-TYPE'])
  })

  it.each([undefined, ''])('%j is no body', body => {
    expect(compiled({ body }).bodyKind).toBe('none')
    expect(rendered({ body })).toMatchObject({ headers: [], body: undefined })
  })

  it('is allowed for GET', () => {
    expect(rendered({ method: 'get', body: '{"query": {{q}}}' }, { q: 'x' })).toMatchObject({
      method: 'GET',
      body: '{"query": "x"}',
    })
  })
})

describe('a compiled template', () => {
  const parts = {
    url: 'https://api.example.com/{{integer:id}}?limit={{ integer : limit = 10 }}&q={{q?}}',
    headers: [{ name: 'X-Q', value: '{{q}}' }],
    body: '{"id": {{integer:id}},\n  "filter": {{json:filter?}}, "note": "{{note?}}"}',
  }

  it('lists its parameters by first appearance, with all positions', () => {
    expect(compiled(parts).parameters).toEqual([
      {
        name: 'id',
        type: 'integer',
        required: true,
        places: [
          { kind: 'path', field: 'url', line: 1, column: 25 },
          { kind: 'json', name: 'id', field: 'body', line: 1, column: 8 },
        ],
      },
      {
        name: 'limit',
        type: 'integer',
        required: false,
        default: 10,
        places: [{ kind: 'query', name: 'limit', field: 'url', line: 1, column: 46 }],
      },
      {
        name: 'q',
        type: 'string',
        required: true,
        places: [
          { kind: 'query', name: 'q', field: 'url', line: 1, column: 75 },
          { kind: 'header', name: 'X-Q', field: 'headers[0].value', line: 1, column: 1 },
        ],
      },
      {
        name: 'filter',
        type: 'json',
        required: false,
        places: [{ kind: 'json', name: 'filter', field: 'body', line: 2, column: 13 }],
      },
      {
        name: 'note',
        type: 'string',
        required: false,
        places: [{ kind: 'json-string', name: 'note', field: 'body', line: 2, column: 40 }],
      },
    ])
  })

  const type = (value: string) => ({ name: 'Content-Type', value })
  it.each([
    {
      what: 'query parameters, decoded, and nothing in the path',
      parts: { url: 'https://{{a}}.example.com/{{b}}?x=1&user%5Bname%5D={{c}}+{{d}}&e={{e?}}' },
      names: [undefined, undefined, 'user[name]', 'user[name]', 'e'],
    },
    {
      what: 'headers and cookies',
      parts: {
        headers: [
          { name: 'X-Api-Key', value: 'k {{a}}' },
          { name: 'Cookie', value: 'x=1; session={{b}}.{{c}}; d={{d}}' },
        ],
      },
      names: ['X-Api-Key', 'session', 'session', 'd'],
    },
    {
      what: 'JSON members, of which the innermost counts',
      parts: {
        body: '{"a": {"b": [{{a}}, {"c": "{{b}}-{{c}}"}, {{d}}], "x": "y"}, "e": {"f": 1}, "g": {{e}}, "h": [[{{f?}}]]}',
      },
      names: ['b', 'c', 'c', 'b', 'g', 'h'],
    },
    { what: 'a JSON value outside of objects', parts: { body: '[{{a}}]' }, names: [undefined] },
    {
      what: 'form fields',
      parts: { headers: [type('application/x-www-form-urlencoded')], body: 'a=1&b+c={{a}}&d={{b}}' },
      names: ['b c', 'd'],
    },
    {
      what: 'parts of a multipart body',
      parts: {
        headers: [type('multipart/form-data; boundary=7d1')],
        body: '--7d1\nContent-Disposition: form-data; name="a b"; filename="{{a}}"\n\n{{b}}\n--7d1\nX-C: {{c}}\n\n{{d}}\n--7d1--',
      },
      names: ['a b', 'a b', undefined, undefined],
    },
    { what: 'text', parts: { headers: [type('text/plain')], body: 'a={{a}}' }, names: [undefined] },
  ])('knows the names of what contains its placeholders: $what', ({ parts: own, names }) => {
    const { parameters } = compiled(own)
    expect(parameters.flatMap(({ places }) => places.map(({ name }) => name))).toEqual(names)
  })

  it('uses a default for a missing value, and fails without one', () => {
    expect(rendered(parts, { id: 1, q: 'x' }).url).toBe('https://api.example.com/1?limit=10&q=x')
    expect(refusal(parts, { id: 1 })).toBe('q is required')
  })

  it('renders equal values to equal requests, whatever was rendered in between', () => {
    const { render } = compiled(parts)
    const values = new Map(Object.entries({ id: 1, q: 'x' }))
    const first = render(values)
    render(new Map(Object.entries({ id: 2, q: 'y', limit: 3, filter: [], note: 'n' })))
    expect(render(values)).toEqual(first)
  })

  it.each([
    { url: 'https://API.example.com:443/{{x}}', origin: { kind: 'fixed', origin: 'https://api.example.com' } },
    { url: '{{url:base}}/{{x}}', origin: { kind: 'open', parameters: ['base'] } },
    { url: 'http://{{a}}.{{b}}.example:8080/{{x}}', origin: { kind: 'open', parameters: ['a', 'b'] } },
    { url: 'http://{{a}}.{{a}}.example/', origin: { kind: 'open', parameters: ['a'] } },
  ])('says who decides the origin of $url', ({ url, origin }) => {
    expect(compiled({ url }).origin).toEqual(origin)
  })
})

describe('values that would make a request huge', () => {
  it.each([
    { parts: { url: 'https://api.example.com/{{x}}' }, length: 65_536 },
    { parts: { url: 'https://api.example.com/?q={{x?}}' }, length: 65_536 },
    { parts: { headers: [{ name: 'X', value: 'a{{x}}' }] }, length: 65_536 },
    { parts: { body: `[${'{{x}},'.repeat(99)}{{x?}}]` }, length: 168_000 },
    { parts: { body: '{{x}}\n'.repeat(1_000) }, length: 16_777 },
  ])('are refused before they are put together, naming the limit', ({ parts, length }) => {
    expect(refusal(parts, { x: 'x'.repeat(length) })).toMatch(/^x is too long \(at most (?:65536|16777216) characters/)
    expect(refusal(parts, { x: 'x'.repeat(100) })).toBeUndefined()
  })
})
