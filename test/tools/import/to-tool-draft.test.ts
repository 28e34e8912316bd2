import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../../../src/lib/kernel/json.ts'
import { compileTemplate } from '../../../src/templates/compile.ts'
import type { RenderedRequest } from '../../../src/templates/template.ts'
import { readCurl } from '../../../src/tools/import/curl-request.ts'
import type { IsSecret } from '../../../src/tools/import/draft-parameters.ts'
import type { ImportedRequest } from '../../../src/tools/import/imported-request.ts'
import { type RequestDraft, toToolDraft } from '../../../src/tools/import/to-tool-draft.ts'
import { runsOf } from '../../support/cases-of-run.ts'
import { nastyText } from '../../templates/nasty.ts'

const noSecrets: IsSecret = () => false
const byName: IsSecret = (_place, name) => /key|token|secret|password|pin/i.test(name)

const read = (source: string): ImportedRequest => {
  const result = readCurl(source)
  if (!result.ok) throw new Error(result.error.message)
  return result.value
}

const draftOf = (source: string, isSecret = noSecrets): RequestDraft => {
  const result = toToolDraft(read(source), isSecret)
  if (!result.ok) throw new Error(JSON.stringify(result.error))
  return result.value
}

const errorsOf = (source: string, isSecret = noSecrets): unknown => {
  const result = toToolDraft(read(source), isSecret)
  return result.ok ? [] : result.error
}

const render = (draft: RequestDraft, values: Readonly<Record<string, JsonValue>> = {}): RenderedRequest => {
  const compiled = compileTemplate(draft.definition)
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.error))
  const rendered = compiled.value.render(new Map(Object.entries(values)))
  if (!rendered.ok) throw new Error(`${rendered.error.parameter} ${rendered.error.message}`)
  return rendered.value
}

const URL_ = 'https://api.example.com/v1/orders/123'

describe('the draft of a tool', () => {
  it('is a definition with the text of the request', () => {
    const source = `curl -X put '${URL_}?expand=items' -H 'Accept: text/html' -H 'Host: a' --json '{"a": 1}'`
    expect(draftOf(source)).toEqual({
      definition: {
        name: 'put_order',
        method: 'PUT',
        url: `${URL_}?expand=items`,
        headers: [
          { name: 'Accept', value: 'text/html' },
          { name: 'Content-Type', value: 'application/json' },
        ],
        body: '{"a": 1}',
        parameters: {},
      },
      candidates: [
        { place: 'path', index: 2, name: 'order_id', value: '123', suggestedType: 'integer' },
        { place: 'query', index: 0, name: 'expand', value: 'items', suggestedType: 'string' },
      ],
      secrets: [],
      variables: [],
      notes: ['Headers that only the connection or a browser sets, such as Host and Sec-Fetch-Mode, were left out.'],
    })
  })

  it.each([
    ['get_order', `curl ${URL_}`],
    ['get_orders', 'curl https://api.example.com/v1/orders'],
    ['get_order_items', 'curl https://api.example.com/v1/orders/123/items'],
    ['delete_order_item', 'curl -X DELETE https://api.example.com/v1/orders/123/items/7'],
    ['get_order', 'curl https://api.example.com/v1/orders/$ORDER'],
    ['post_category', 'curl -d a https://api.example.com/categories/{id}'],
    ['get_address', 'curl https://api.example.com/addresses/12'],
    ['get_status', 'curl https://api.example.com/status/12'],
    ['get_user_profile_by_name', 'curl https://api.example.com/userProfile-by.name'],
    ['get_example', 'curl https://api.example.com'],
    ['get_localhost', 'curl localhost:8080/v1'],
    ['get', 'curl 127.0.0.1'],
    ['get_messages', 'curl https://api.example.com/2010-04-01/Messages.json'],
    ['call_proxy_a', 'curl -X PROXY https://api.example.com/a'],
    ['get_token_account', 'curl https://api.example.com/tokens/abcdefghij/accounts/1'],
  ])('is named %s for: %s', (name, source) => {
    expect(draftOf(source, byName).definition.name).toBe(name)
  })
})

describe('candidate parameters', () => {
  it.each<[string, [name: string, value: string, type: string][]]>([
    [
      '/orders/123/items/0042',
      [
        ['order_id', '123', 'integer'],
        ['item_id', '0042', 'string'],
      ],
    ],
    ['/users/6f1c1b3e-3f0a-4a53-9d3c-0d7d7d2f7c11', [['user_id', '6f1c1b3e-3f0a-4a53-9d3c-0d7d7d2f7c11', 'string']]],
    [
      '/commits/9fceb02d0ae598e95dc970b74767f19372d61af8',
      [['commit_id', '9fceb02d0ae598e95dc970b74767f19372d61af8', 'string']],
    ],
    ['/customers/cus_9s6XKzkNRiz8i3', [['customer_id', 'cus_9s6XKzkNRiz8i3', 'string']]],
    [
      '/a/{orderId}/:item-id/<user-name>',
      [
        ['order_id', '{orderId}', 'string'],
        ['user_name', '<user-name>', 'string'],
      ],
    ],
    [
      '/1/2',
      [
        ['id', '1', 'integer'],
        ['id_2', '2', 'integer'],
      ],
    ],
    [
      '/x?a=1&b=1.5&c=true&d=e%20f+g&h=&i',
      [
        ['a', '1', 'integer'],
        ['b', '1.5', 'number'],
        ['c', 'true', 'boolean'],
        ['d', 'e f g', 'string'],
        ['h', '', 'string'],
      ],
    ],
    [
      '/x?tags[]=a&tags[]=b',
      [
        ['tags', 'a', 'string'],
        ['tags_2', 'b', 'string'],
      ],
    ],
    [
      '/x?a=12345678901234567890&b=-7&c=1e5',
      [
        ['a', '12345678901234567890', 'string'],
        ['b', '-7', 'integer'],
        ['c', '1e5', 'string'],
      ],
    ],
  ])('are found in %s', (path, expected) => {
    const { candidates } = draftOf(`curl 'https://api.example.com${path}'`)
    expect(candidates.map(({ name, value, suggestedType }) => [name, value, suggestedType])).toEqual(expected)
  })

  it('are no secrets and no variables', () => {
    const { candidates } = draftOf('curl "https://api.example.com/$A?api_key=b&c=$D"', byName)
    expect(candidates).toEqual([])
  })
})

describe('a secret', () => {
  it.each<[string, object, { place: string; name: string; value: string; parameter: string }]>([
    [
      "-H 'Authorization: Bearer abc'",
      { headers: [{ name: 'Authorization', value: 'Bearer {{access_token}}' }] },
      { place: 'header', name: 'Authorization', value: 'abc', parameter: 'access_token' },
    ],
    [
      "-H 'Authorization: Token abc'",
      { headers: [{ name: 'Authorization', value: 'Token {{authorization}}' }] },
      { place: 'header', name: 'Authorization', value: 'abc', parameter: 'authorization' },
    ],
    [
      "-H 'Authorization: abc'",
      { headers: [{ name: 'Authorization', value: '{{authorization}}' }] },
      { place: 'header', name: 'Authorization', value: 'abc', parameter: 'authorization' },
    ],
    [
      '-u user:password',
      { headers: [{ name: 'Authorization', value: 'Basic {{basic_credentials}}' }] },
      { place: 'header', name: 'Authorization', value: 'dXNlcjpwYXNzd29yZA==', parameter: 'basic_credentials' },
    ],
    [
      "-H 'X-Api-Key: abc'",
      { headers: [{ name: 'X-Api-Key', value: '{{x_api_key}}' }] },
      { place: 'header', name: 'X-Api-Key', value: 'abc', parameter: 'x_api_key' },
    ],
    [
      '-b session=abc',
      { headers: [{ name: 'Cookie', value: 'session={{session}}' }] },
      { place: 'cookie', name: 'session', value: 'abc', parameter: 'session' },
    ],
    [
      "-b 'a=1; b=2'",
      { headers: [{ name: 'Cookie', value: '{{cookie}}' }] },
      { place: 'header', name: 'Cookie', value: 'a=1; b=2', parameter: 'cookie' },
    ],
    [
      "-G -d 'apiKey=a%20b'",
      { url: `${URL_}?apiKey={{api_key}}` },
      { place: 'query', name: 'apiKey', value: 'a b', parameter: 'api_key' },
    ],
    [
      "-d 'a=1&client_secret=a+b'",
      { body: 'a=1&client_secret={{client_secret}}' },
      { place: 'form', name: 'client_secret', value: 'a b', parameter: 'client_secret' },
    ],
    [
      `--json '{"a": [{"password" : "b\\"c", "d": "e"}]}'`,
      { body: '{"a": [{"password" : "{{password}}", "d": "e"}]}' },
      { place: 'json', name: 'password', value: 'b"c', parameter: 'password' },
    ],
    [
      `--json '{"pin": 1234}'`,
      { body: '{"pin": {{number:pin}}}' },
      { place: 'json', name: 'pin', value: '1234', parameter: 'pin' },
    ],
  ])('is a placeholder: curl %s', (options, definition, secret) => {
    const draft = draftOf(`curl ${options} ${URL_}`, byName)
    expect(draft.definition).toMatchObject(definition)
    expect(draft.secrets).toEqual([secret])
  })

  it('in a part of a form is a placeholder', () => {
    const draft = draftOf(`curl -F 'token=abc' -F 'a=b' ${URL_}`, byName)
    expect(draft.definition.body).toContain('name="token"\r\n\r\n{{token}}\r\n')
    expect(draft.secrets).toEqual([{ place: 'multipart', name: 'token', value: 'abc', parameter: 'token' }])
  })

  it('in the path is a placeholder', () => {
    const draft = draftOf('curl https://api.example.com/tokens/a%2Fb/send', byName)
    expect(draft.definition).toMatchObject({
      name: 'get_token_send',
      url: 'https://api.example.com/tokens/{{tokens}}/send',
    })
    expect(draft.secrets).toEqual([{ place: 'path', name: 'tokens', value: 'a/b', parameter: 'tokens' }])
  })

  it('that is used twice is one parameter', () => {
    const draft = draftOf(`curl -H 'X-Api-Key: abc' -H 'X-Token: abc' '${URL_}?key=other'`, byName)
    expect(draft.definition.headers.map(({ value }) => value)).toEqual(['{{x_api_key}}', '{{x_api_key}}'])
    expect(draft.secrets.map(({ parameter }) => parameter)).toEqual(['key', 'x_api_key', 'x_api_key'])
  })

  it('is replaced in all other places, however it is encoded there', () => {
    const secret = 'a/long"secret'
    const source = `curl -H 'Authorization: Bearer ${secret}' --json '{"a": "x a/long\\"secret y"}' '${URL_}?b=a%2Flong%22secret'`
    const draft = draftOf(source)
    expect(draft.definition.body).toBe('{"a": "x {{access_token}} y"}')
    expect(draft.definition.url).toBe(`${URL_}?b={{access_token}}`)
    expect(render(draft, { access_token: secret }).body).toBe('{"a": "x a/long\\"secret y"}')
  })

  it('is in none of the other values of the draft', () => {
    const draft = draftOf(
      "curl -H 'Authorization: Bearer LongSecret' 'https://api.example.com/LongSecret/a?b=LongSecret'",
    )
    expect(draft.definition).toMatchObject({
      name: 'get_a',
      url: 'https://api.example.com/{{access_token}}/a?b={{access_token}}',
    })
    expect(draft.candidates).toEqual([])
  })

  it('that is a cookie between variables is a placeholder', () => {
    const draft = draftOf(`curl -b "session=abc; theme=$THEME" ${URL_}`)
    expect(draft.definition.headers).toEqual([{ name: 'Cookie', value: 'session={{session}}; theme={{theme}}' }])
    expect(draft.secrets).toEqual([{ place: 'cookie', name: 'session', value: 'abc', parameter: 'session' }])
  })

  it.each([
    [`-H "Authorization: Bearer sk-live-123$A"`, 'Bearer {{access_token}}'],
    [`-H "Authorization: Bearer $A.$B"`, 'Bearer {{a}}.{{b}}'],
    [`-H "X-Api-Key: sk-live-123$A"`, '{{x_api_key}}'],
    [`-b "session=sk-live-123$A; theme=sk-live-456$A"`, 'session={{session}}; theme={{theme}}'],
  ])('is one placeholder if variables are only a part of it: curl %s', (options, value) => {
    expect(draftOf(`curl ${options} ${URL_}`, byName).definition.headers[0]?.value).toBe(value)
  })

  it('in JSON that is sent as text is a placeholder', () => {
    const source = `curl -H 'Content-Type: text/plain;charset=UTF-8' -d '{"password":"a\\"b","c":1}' ${URL_}`
    const draft = draftOf(source, byName)
    expect(draft.definition.body).toBe('{"password":"{{password}}","c":1}')
    const [secret] = draft.secrets
    expect(render(draft, { password: secret?.value ?? '' }).body).toBe('{"password":"a\\"b","c":1}')
  })

  it('in XML is a placeholder', () => {
    const body = '<s:a><s:user>me</s:user><s:password t="x">p&amp;"1</s:password><b/></s:a>'
    const draft = draftOf(`curl -H 'Content-Type: text/xml' -d '${body}' ${URL_}`, byName)
    expect(draft.definition.body).toBe(body.replace('p&amp;"1', '{{password}}'))
    expect(draft.secrets).toEqual([{ place: 'xml', name: 'password', value: 'p&"1', parameter: 'password' }])
    expect(render(draft, { password: 'p&"1' }).body).toBe(body.replace('"1', '&quot;1'))
  })

  it.each([
    ['<a><password><![CDATA[p&<"1]]></password></a>', '<a><password>{{password}}</password></a>', 'p&<"1'],
    ['<a><password>\n <![CDATA[a]]]b]]>\n</password></a>', '<a><password>{{password}}</password></a>', 'a]]]b'],
    ['<a q="x>y" s:password="p&amp;1" b="c"/>', '<a q="x>y" s:password="{{password}}" b="c"/>', 'p&1'],
    ["<a><b password = 'p1'>t</b></a>", "<a><b password = '{{password}}'>t</b></a>", 'p1'],
  ])('in XML is a placeholder in a CDATA section and an attribute: %s', (body, template, value) => {
    const quoted = body.replaceAll("'", "'\\''")
    const draft = draftOf(`curl -H 'Content-Type: text/xml' --data-raw '${quoted}' ${URL_}`, byName)
    expect(draft.definition.body).toBe(template)
    expect(draft.secrets).toEqual([{ place: 'xml', name: 'password', value, parameter: 'password' }])
  })

  it('in XML leaves a CDATA section as it is if it has no secret, and makes text of one with a variable', () => {
    const draft = (body: string) =>
      draftOf(`curl -H 'Content-Type: text/xml' -d "${body}" ${URL_}`, byName).definition.body
    expect(draft('<a><b><![CDATA[1 < 2]]></b></a>')).toBe('<a><b><![CDATA[1 < 2]]></b></a>')
    expect(draft('<a><b><![CDATA[1 < $N]]></b></a>')).toBe('<a><b>1 &lt; {{n}}</b></a>')
  })

  it('in XML is searched in a time that grows with its length', () => {
    for (const part of ['<a b="', '<a><![CDATA[', "<a b='c' ", '<a>', '<a b=c']) {
      const text = part.repeat(Math.floor(32_000 / part.length))
      const command = `curl -H 'Content-Type: text/xml' -d "${text.replaceAll('"', '\\"')}" ${URL_}`
      expect(toToolDraft(read(command), byName).ok).toBe(true)
    }
  })

  it('in a multipart body that a browser copied is a placeholder', () => {
    const parts = ['name="user"\r\n\r\nme', 'name="password"\r\n\r\nabc\r\ndef', 'name="file"; filename=""\r\n\r\n']
    const body = `${parts.map(part => `--x1\r\nContent-Disposition: form-data; ${part}\r\n`).join('')}--x1--\r\n`
    const options = `-H 'Content-Type: multipart/form-data; boundary=x1' --data-raw '${body}'`
    const draft = draftOf(`curl ${options} ${URL_}`, byName)
    expect(draft.definition.body).toBe(body.replace('abc\r\ndef', '{{password}}'))
    expect(draft.secrets).toEqual([
      { place: 'multipart', name: 'password', value: 'abc\r\ndef', parameter: 'password' },
    ])
    expect(render(draft, { password: 'abc\r\ndef' }).body).toBe(body)
  })

  it.each([
    `-u user:long-secret ${URL_}?a=long-secret`,
    `-u user:long+secret ${URL_}?a=long%2bsecret`,
    `-u long-secret: ${URL_} -d a=long-secret`,
  ])('of basic authentication is refused elsewhere: curl %s', command => {
    expect(errorsOf(`curl ${command}`)).toEqual([
      { path: '', message: 'a secret is also in a place where no placeholder is allowed. Remove it there' },
    ])
  })

  it.each([`-H 'long-secret: a' ${URL_}`, 'https://long-secret.example.com', `--json '{"long-secret": 1}' ${URL_}`])(
    'is refused where a template cannot hide it: curl %s',
    command => {
      const result = toToolDraft(read(`curl -H 'Authorization: Bearer long-secret' ${command}`), noSecrets)
      expect(result.ok).toBe(false)
    },
  )

  it('is never part of the definition, whatever it is and wherever it occurs', () => {
    const secret = fc
      .string({ unit: 'grapheme-ascii', minLength: 8, maxLength: 20 })
      .filter(text => /^[!-~]+$/.test(text))
    fc.assert(
      fc.property(secret, fc.integer({ min: 0, max: 6 }), (value, place) => {
        const request: ImportedRequest = {
          ...read(`curl --json '{"a": 1}' ${URL_}`),
          ...[
            { auth: { kind: 'bearer', token: value } as const },
            { auth: { kind: 'basic', user: 'user', password: value } as const },
            { headers: [{ name: 'X-Api-Key', value }] },
            { cookies: [{ name: 'a', value }] },
            { url: `${URL_}?token=${encodeURIComponent(value)}` },
            {
              body: { kind: 'json', text: JSON.stringify({ token: value }), contentType: 'application/json' } as const,
            },
            {
              body: {
                kind: 'form',
                text: `token=${encodeURIComponent(value)}`,
                pairs: [],
                contentType: 'application/x-www-form-urlencoded',
              } as const,
            },
          ][place],
        }
        const result = toToolDraft(
          { ...request, headers: [...request.headers, { name: 'X-Copy', value: `a ${value}` }] },
          byName,
        )
        const definition = JSON.stringify(result.ok ? result.value.definition : {})
        expect(definition).not.toContain(JSON.stringify(value).slice(1, -1))
        if (result.ok) expect(result.value.secrets.length).toBeGreaterThan(0)
        else expect(result.error).toMatchObject([{ message: expect.any(String) }])
      }),
      { numRuns: runsOf(1_000) },
    )
  })
})

describe('a variable', () => {
  it.each<[string, object]>([
    [`-H "X-Id: $ID" ${URL_}`, { headers: [{ name: 'X-Id', value: '{{id}}' }] }],
    [`-H "Authorization: Bearer $TOKEN" ${URL_}`, { headers: [{ name: 'Authorization', value: 'Bearer {{token}}' }] }],
    [`-H "Authorization: Token $TOKEN" ${URL_}`, { headers: [{ name: 'Authorization', value: 'Token {{token}}' }] }],
    [`-H "X-Path: c:\\\\\\\\$ID" ${URL_}`, { headers: [{ name: 'X-Path', value: 'c:\\\\\\\\{{id}}' }] }],
    [`-b "a=$B" ${URL_}`, { headers: [{ name: 'Cookie', value: 'a={{b}}' }] }],
    ['$BASE/orders', { url: '{{url:base}}/orders' }],
    ['https://$TENANT.example.com/a', { url: 'https://{{tenant}}.example.com/a' }],
    ['https://$HOST/a', { url: '{{url:host}}/a' }],
    ['https://api-$REGION.example.com/a', { url: '{{url:base_url}}/a' }],
    ['localhost:$PORT/a', { url: '{{url:base_url}}/a' }],
    [
      'https://api.example.com/orders/$ID/x-$NAME?a=$B',
      { url: 'https://api.example.com/orders/{{id}}/x-{{name}}?a={{b}}' },
    ],
    [`-d "a=$B&c=d $E" ${URL_}`, { body: 'a={{b}}&c=d {{e}}' }],
    [`--json "{\\"a\\": $B, \\"c\\": \\"d $E\\"}" ${URL_}`, { body: '{"a": {{json:b}}, "c": "d {{e}}"}' }],
    [`--json "$BODY" ${URL_}`, { body: '{{json:body}}' }],
    [`--json @file ${URL_}`, { body: '{{json:body}}' }],
    [
      `-d @order.json ${URL_}`,
      { body: '{{json:body}}', headers: [{ name: 'Content-Type', value: 'application/json' }] },
    ],
    [`-T file ${URL_}`, { body: '{{body}}', headers: [{ name: 'Content-Type', value: 'application/octet-stream' }] }],
    [`-H Content-Type:application/xml -d "<a b='$C'>$D</a>" ${URL_}`, { body: "<a b='{{c}}'>{{d}}</a>" }],
  ])('is a placeholder: curl %s', (command, definition) => {
    expect(draftOf(`curl ${command}`).definition).toMatchObject(definition)
  })

  it('is listed with how it is written, and whether it is in the place of a secret', () => {
    const { variables } = draftOf(`curl -H "X-Api-Key: $API_KEY" -H "X-Id: $ID" -F file=@a.png ${URL_}`, byName)
    expect(variables).toEqual([
      { parameter: 'file', written: '@a.png', from: 'file', isSecret: false },
      { parameter: 'api_key', written: '$API_KEY', from: 'shell', isSecret: true },
      { parameter: 'id', written: '$ID', from: 'shell', isSecret: false },
    ])
  })

  it.each([
    [
      `-d "$A=b" ${URL_}`,
      'body',
      'the keys of the form come from a file or a variable. Write them out, as in key={{name}}, or set another Content-Type',
    ],
    [
      `--json "{\\"$A\\": 1}" ${URL_}`,
      'body',
      'line 1, column 3: a JSON key cannot contain a placeholder, because two keys could become equal. Write the key out',
    ],
    [
      `-H 'Content-Type: text/plain' -d "{$A" ${URL_}`,
      'body',
      'a { directly before a variable or a secret cannot be written in a template. Remove it',
    ],
    [`https://api.example.com/${'a'.repeat(8_200)}`, 'url', 'the URL is longer than 8192 characters'],
    [
      `-H 'Content-Type: application/json' -d '{' ${URL_}`,
      'body',
      'line 1, column 2: the body is not valid JSON: a key is missing here: write "key": value',
    ],
  ])('or text that a template cannot have is refused: curl %s', (command, path, message) => {
    expect(errorsOf(`curl ${command}`)).toEqual([{ path, message }])
  })
})

describe('braces', () => {
  it.each<[string, string, string]>([
    ['a JSON body', `--json '{"a":{"b":"{{c}}"},"d":"\\\\{{{e"}'`, '{"a":{"b":"\\{{c}}"},"d":"\\\\\\{{{e"}'],
    ['text', `-H 'Content-Type: text/plain' --data-raw '\\{{a}} {{{{b'`, '\\\\\\{{a}} \\{{\\{{b'],
    ['a form', `-d 'a={{b}}'`, 'a=\\{{b}}'],
  ])('stay braces in %s', (_name, options, body) => {
    const draft = draftOf(`curl ${options} ${URL_}`)
    expect(draft.definition.body).toBe(body)
  })

  it('directly before a variable are encoded where that is possible', () => {
    const draft = draftOf(`curl "https://api.example.com/{$A}?b={$C" --json "{\\"d\\": \\"{$E}\\"}"`)
    expect(draft.definition).toMatchObject({
      url: 'https://api.example.com/%7B{{a}}}?b=%7B{{c}}',
      body: '{"d": "\\u007b{{e}}}"}',
    })
  })

  it('and any other text are sent as they are in all places', () => {
    const text = nastyText.map(value => value.replaceAll('\0', '').toWellFormed())
    const headerText = text.map(value => value.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '').trim())
    fc.assert(
      fc.property(headerText, text, text, text, (header, query, json, plain) => {
        const request: ImportedRequest = {
          ...read(`curl ${URL_}`),
          method: 'POST',
          url: `${URL_}?a=${encodeURIComponent(query)}{{b}}`,
          headers: [{ name: 'X-Text', value: header }],
        }
        const bodies: ImportedRequest['body'][] = [
          { kind: 'json', text: JSON.stringify([json, { [json]: json }]), contentType: 'application/json' },
          { kind: 'text', text: plain, contentType: 'text/plain' },
          {
            kind: 'form',
            text: `a=${encodeURIComponent(plain)}{{}`,
            pairs: [],
            contentType: 'application/x-www-form-urlencoded',
          },
        ]
        for (const body of bodies) {
          const result = toToolDraft({ ...request, body }, noSecrets)
          if (!result.ok) throw new Error(JSON.stringify(result.error))
          const sent = render(result.value)
          expect(new URL(sent.url).searchParams.get('a')).toBe(`${query}{{b}}`)
          expect(sent.headers).toContainEqual(['X-Text', header])
          expect(sent.body ?? '').toBe('text' in body ? body.text : '')
        }
      }),
      { numRuns: runsOf(500) },
    )
  })

  it('stay in the parts of a form, with a boundary that no part contains', () => {
    const draft = draftOf(`curl -F 'a={{b}} --patchbay-part-1000' -F 'c=@d.txt' ${URL_}`)
    const { body = '', headers } = render(draft, { c: 'content' })
    expect(headers).toContainEqual(['Content-Type', 'multipart/form-data; boundary=patchbay-part-1001'])
    expect(body.split('--patchbay-part-1001').map(part => part.split('\r\n').at(-2))).toEqual([
      undefined,
      '{{b}} --patchbay-part-1000',
      'content',
      '--',
    ])
  })
})
