import { describe, expect, it } from 'vitest'
import { importCurl } from '../../../src/imports/curl/import-curl.ts'
import { onlyTool, requestOf, sourceOf, toolsOf } from '../sent-request.ts'

const TOKEN = 'sk-live-4f9XbQ27TzLmWc81RyVn05Ke'

const importText = (text: string) => sourceOf(importCurl(text))

describe('a text with several cURL commands', () => {
  it.each<[string, string]>([
    ['on lines', 'curl https://a.example/one\ncurl https://a.example/two'],
    ['after && and ;', 'curl https://a.example/one && curl https://a.example/two;'],
    ['in a block of Markdown', 'Text\n```bash\n$ curl https://a.example/one\n$ curl https://a.example/two\n```\n'],
    ['with continued lines', 'curl \\\n  https://a.example/one \\\n\ncurl \\\r\n  https://a.example/two\r\n'],
    ['with here-documents', 'curl -d @- https://a.example/one <<E\ncurl x\nE\ncurl https://a.example/two'],
    [
      'as Chrome copies them for Windows',
      'curl ^"https://a.example/one^" ^\r\n  -X ^"GET^" &\r\ncurl ^"https://a.example/two^"',
    ],
    ['with other commands', 'cd /tmp\ncurl https://a.example/one | jq .\necho curl\n# and\ncurl https://a.example/two'],
  ])('has a tool for each: %s', async (_, text) => {
    const source = await importText(text)
    expect(source.operations.map(({ path }) => path)).toEqual(['/one', '/two'])
    expect(source.operations.flatMap(operation => ('reason' in operation ? [operation.reason] : []))).toEqual([])
  })

  it('skips a command that cannot be read, and says on which line it is', async () => {
    const source = await importText("curl https://a.example/a\n\ncurl 'https://a.example/b\ncurl ftp://a.example/c\n")
    expect(source.operations.map(({ key }) => key)).toEqual(['GET /a', 'Command on line 3', 'Command on line 4'])
    expect(source.operations.slice(1)).toEqual([
      expect.objectContaining({ reason: 'It cannot be read: the quote that starts here is not closed.' }),
      expect.objectContaining({ reason: expect.stringContaining('only http and https') }),
    ])
  })

  it('has one key for a secret of several commands, which no operation contains', async () => {
    const source = await importText(
      [
        `curl https://api.kiosk.example/a -H 'Authorization: Bearer ${TOKEN}'`,
        `curl https://api.kiosk.example/b -H 'Authorization: Bearer ${TOKEN}' -d 'note=see ${TOKEN}'`,
        'curl https://api.kiosk.example/c -H "Authorization: Bearer $TOKEN"',
      ].join('\n'),
    )
    expect(source.globals).toMatchObject([
      { key: 'kiosk_access_token', isSecret: true, value: TOKEN, origins: ['https://api.kiosk.example'] },
      { key: 'kiosk_token', isSecret: true, value: undefined },
    ])
    expect(JSON.stringify(source.operations)).not.toContain(TOKEN)
  })
})

describe('a cURL command', () => {
  it('has parameters for ids, the query and the body, and sends what it sent before by default', async () => {
    const source = await importText(
      `curl -X PATCH 'https://api.kiosk.example/v1/orders/123?limit=10&tag=a&tag=b&q=x%20y' -H 'X-Version: 2' -H 'Content-Type: application/json' -d '{"name": "Ada", "age": 36}'`,
    )
    const tool = onlyTool(source)
    expect(tool.key).toBe('PATCH /v1/orders/{order_id}')
    expect(tool.tool.parameters).toMatchObject({
      order_id: { example: 123 },
      limit: { default: 10 },
      tag: { default: ['a', 'b'] },
      name: { example: 'Ada' },
    })
    expect(requestOf(tool, source, { order_id: 123, name: 'Bo', age: 1 })).toEqual({
      method: 'PATCH',
      url: 'https://api.kiosk.example/v1/orders/123?limit=10&tag=a&tag=b&q=x%20y',
      headers: { 'X-Version': '2', 'Content-Type': 'application/json' },
      body: '{"name": "Bo", "age": 1}',
    })
  })

  it.each<[string, string]>([
    ['an empty object', '{}'],
    ['a list', '[1, 2]'],
  ])('sends JSON as JSON even if the command says no Content-Type: %s', async (_, json) => {
    const source = await importText(`curl https://a.example/x -d '${json}'`)
    expect(requestOf(onlyTool(source), source, { body: { a: 1 } })).toMatchObject({
      headers: { 'Content-Type': 'application/json' },
      body: '{"a":1}',
    })
  })

  it('has parameters for the fields of a form, and for variables of the shell', async () => {
    const source = await importText(
      'curl https://a.example/x -d "user=$USER_NAME&note=hi there" -d password=plum-tree-17',
    )
    const tool = onlyTool(source)
    expect(requestOf(tool, source, { user_name: 'ada', note: 'n' }).body).toBe('user=ada&note=n&password=plum-tree-17')
    expect(JSON.stringify(tool)).not.toContain('plum-tree-17')
  })

  it('gets another name if there are several of the same', async () => {
    const source = await importText('curl https://a.example/x\ncurl https://a.example/x')
    expect([...toolsOf(source)].map(([name, { key }]) => [name, key])).toEqual([
      ['get_x', 'GET /x'],
      ['get_x_2', 'GET /x (2)'],
    ])
  })
})

describe('a text without cURL commands', () => {
  it.each(['', 'hello', 'wget https://a.example', 'This is about curl.'])('is refused: %j', async text => {
    await expect(importCurl(text)).resolves.toEqual({
      ok: false,
      error: 'It has no curl command. Each one starts with curl.',
    })
  })
})
