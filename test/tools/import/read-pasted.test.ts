import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readTemplate } from '../../../src/templates/compile.ts'
import { applyCandidates, metaOfCandidate } from '../../../src/tools/import/apply-candidates.ts'
import { hasWrittenHost, readPasted } from '../../../src/tools/import/read-pasted.ts'
import { toToolName } from '../../../src/tools/tool-names.ts'
import { runsOf } from '../../support/cases-of-run.ts'

const TOKEN = 'sk-live-4f9XbQ27TzLmWc81RyVn05Ke'
const UUID = '7f3c1a52-9d0e-4c8b-b6a4-2e51d7f08c93'

const read = (text: string) => {
  const pasted = readPasted(text)
  if (!pasted.ok) throw new Error(pasted.error.message)
  return pasted.value
}

/** Returns the tool of a pasted text with all candidates as parameters, and their values. */
const readTool = (text: string) => {
  const { draft } = read(text)
  const { method, url } = draft.definition
  return {
    name: draft.definition.name,
    request: `${method} ${applyCandidates(url, draft.candidates)}`,
    values: Object.fromEntries(draft.candidates.map(({ name, value }) => [name, value])),
  }
}

describe('a pasted URL', () => {
  it.each([
    [
      'with a number in the path',
      'https://api.example.com/v1/orders/1234',
      'get_order GET https://api.example.com/v1/orders/{{integer:order_id}}',
      { order_id: '1234' },
    ],
    [
      'with a UUID and a query',
      `https://api.example.com/users/${UUID}/posts?limit=20&sort=new`,
      'get_user_posts GET https://api.example.com/users/{{user_id}}/posts?limit={{integer:limit}}&sort={{sort}}',
      { user_id: UUID, limit: '20', sort: 'new' },
    ],
    ['with {id}', 'https://api.example.com/orders/{id}', 'get_order GET https://api.example.com/orders/{{id}}', {}],
    [
      'with :owner and :repo',
      'https://api.github.com/repos/:owner/:repo/issues',
      'get_repo_issues GET https://api.github.com/repos/{{owner}}/{{repo}}/issues',
      {},
    ],
    [
      'with <id>',
      'https://api.example.com/orders/<order_id>/lines',
      'get_order_lines GET https://api.example.com/orders/{{order_id}}/lines',
      {},
    ],
    [
      'with a placeholder in the query',
      'https://api.example.com/search?q={query}&page=2',
      'get_search GET https://api.example.com/search?q={{query}}&page={{integer:page}}',
      { page: '2' },
    ],
    [
      'with our own placeholders, whose types and defaults stay',
      'https://api.example.com/orders/{{integer:id}}?limit={{integer:limit=20}}&q={{q?}}',
      'get_order GET https://api.example.com/orders/{{integer:id}}?limit={{integer:limit=20}}&q={{q?}}',
      {},
    ],
    [
      'of Postman, with {{orderId}} and a value',
      'https://api.example.com/orders/{{orderId}}?expand=lines',
      'get_order GET https://api.example.com/orders/{{orderId}}?expand={{expand}}',
      { expand: 'lines' },
    ],
    ['without a scheme', 'api.example.com/orders', 'get_orders GET https://api.example.com/orders', {}],
    ['with an IPv4 address', '10.0.0.7:8080/orders', 'get_orders GET https://10.0.0.7:8080/orders', {}],
    [
      'with matrix parameters',
      'https://api.example.com/maps;v=3/tiles;zoom=12',
      'get_map_tiles GET https://api.example.com/maps;v=3/tiles;zoom=12',
      {},
    ],
    ['of this machine, with a port', 'localhost:3000/users/:id', 'get_user GET http://localhost:3000/users/{{id}}', {}],
    [
      'with a method in front',
      'DELETE https://api.example.com/orders/{id}',
      'delete_order DELETE https://api.example.com/orders/{{id}}',
      {},
    ],
    [
      'from a log, with the version of HTTP',
      'post https://api.example.com/orders HTTP/1.1',
      'post_orders POST https://api.example.com/orders',
      {},
    ],
    ['in quotes', '"https://api.example.com/orders"', 'get_orders GET https://api.example.com/orders', {}],
    ['in backticks', '`https://api.example.com/orders`', 'get_orders GET https://api.example.com/orders', {}],
    ['in angle brackets', '<https://api.example.com/orders>', 'get_orders GET https://api.example.com/orders', {}],
    [
      'between blank lines',
      '\r\n  https://api.example.com/orders \r\n',
      'get_orders GET https://api.example.com/orders',
      {},
    ],
    ['with a fragment', 'https://api.example.com/orders#latest', 'get_orders GET https://api.example.com/orders', {}],
    [
      'with an encoded placeholder',
      'https://api.example.com/orders/%7Bid%7D',
      'get_order GET https://api.example.com/orders/{{id}}',
      {},
    ],
    [
      'with a space',
      'https://api.example.com/search?q=new york',
      'get_search GET https://api.example.com/search?q={{q}}',
      { q: 'new york' },
    ],
    [
      'with a repeated name',
      'https://api.example.com/orders?tag=a&tag=b',
      'get_orders GET https://api.example.com/orders?tag={{tag}}&tag={{tag_2}}',
      { tag: 'a', tag_2: 'b' },
    ],
    ['with a port', 'https://api.example.com:8443/orders', 'get_orders GET https://api.example.com:8443/orders', {}],
    [
      'with a colon that is no placeholder',
      'https://api.example.com/v1/jobs:run?at=10:30',
      'get_jobs_run GET https://api.example.com/v1/jobs:run?at={{at}}',
      { at: '10:30' },
    ],
  ])('%s becomes a tool', (_, text, tool, values) => {
    const { name, request, values: found } = readTool(text)
    expect(`${name} ${request}`).toBe(tool)
    expect(found).toEqual(values)
    const [method = '', url = ''] = request.split(' ')
    expect(readTemplate({ method, url, headers: [] }).errors).toEqual([])
  })

  it.each([
    ['in the query', `https://api.example.com/orders?api_key=${TOKEN}&limit=5`, 'api_key'],
    ['as a user and password', `https://ada:${TOKEN}@api.example.com/orders`, 'basic_credentials'],
    ['in the path', `https://api.example.com/hooks/${TOKEN}`, 'hooks'],
  ])('keeps a secret %s out of the draft', (_, text, parameter) => {
    const { draft, notes } = read(text)
    const { secrets, ...shown } = draft
    expect(secrets.map(secret => secret.parameter)).toEqual([parameter])
    expect(JSON.stringify({ shown, notes })).not.toContain(TOKEN)
  })

  it.each([
    ['a sentence', 'get the orders of today'],
    ['a header', `Authorization: Bearer ${TOKEN}`],
    ['a path', '/orders/{id}'],
    ['an URL that starts with a placeholder', '{{baseUrl}}/orders/:id'],
    ['a placeholder for the host', `https://{host}/orders?api_key=${TOKEN}`],
    ['another protocol', `postgres://ada:${TOKEN}@db.example.com/orders`],
    ['a request with headers', `GET /orders HTTP/1.1\nHost: api.example.com\nAuthorization: Bearer ${TOKEN}`],
    ['no host', 'https:///orders'],
    ['too much', `https://api.example.com/?q=${'a'.repeat(40_000)}`],
  ])('is refused if it is %s, without repeating it', (_, text) => {
    const pasted = readPasted(text)
    expect(pasted.ok).toBe(false)
    expect(JSON.stringify(pasted)).not.toContain(TOKEN)
  })

  it('never throws, and a URL that it reads is a valid template with a host', () => {
    const piece = fc.constantFrom(
      'https://',
      'a.example',
      '/',
      ':id',
      '{id}',
      '<x>',
      '{{q?}}',
      '?a=',
      '&',
      '#',
      '%',
      ' ',
      '1',
      '{',
      '}',
      '@',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), pieces => {
        const pasted = readPasted(pieces.join(''))
        if (!pasted.ok || !hasWrittenHost(pasted.value.draft)) return
        const { definition, candidates } = pasted.value.draft
        const url = applyCandidates(definition.url, candidates)
        expect(readTemplate({ ...definition, url }).errors).toEqual([])
      }),
      { numRuns: runsOf(2_000) },
    )
  })
})

describe('a pasted cURL command', () => {
  it('becomes a tool without its secrets, and {id} in its URL a parameter', () => {
    const { draft } = read(
      `curl 'https://api.example.com/orders/{id}/lines?limit=5' -H 'Authorization: Bearer ${TOKEN}' -d '{"note": "{id} :x <y>"}'`,
    )
    expect(draft.definition).toMatchObject({
      method: 'POST',
      url: 'https://api.example.com/orders/{{id}}/lines?limit=5',
      body: '{"note": "{id} :x <y>"}',
    })
    expect(draft.secrets).toMatchObject([{ parameter: 'access_token', value: TOKEN }])
    expect(JSON.stringify(draft.definition)).not.toContain(TOKEN)
  })

  it('that cannot be read is not repeated', () => {
    const pasted = readPasted(`curl -H 'Authorization: Bearer ${TOKEN}'`)
    expect(pasted).toMatchObject({ ok: false, error: { line: 1, message: 'the command has no URL' } })
  })
})

describe('values of a URL', () => {
  it('become parameters one by one, with their value as example or default', () => {
    const { draft } = read('https://api.example.com/orders/17/lines/a-1?limit=20&q={{q?}}')
    const [order, limit] = draft.candidates
    if (order === undefined || limit === undefined) throw new Error('two candidates expected')
    const { url } = draft.definition
    expect(applyCandidates(url, [])).toBe(url)
    expect(applyCandidates(url, [order])).toBe(
      'https://api.example.com/orders/{{integer:order_id}}/lines/a-1?limit=20&q={{q?}}',
    )
    expect(applyCandidates(url, [limit])).toBe(
      'https://api.example.com/orders/17/lines/a-1?limit={{integer:limit}}&q={{q?}}',
    )
    expect([order, limit].map(metaOfCandidate)).toEqual([{ example: 17 }, { default: 20 }])
  })
})

describe('the name of a tool', () => {
  it.each([
    ['Get order', 'get_order'],
    [' get_order ', 'get_order'],
    ['getOrder', 'getOrder'],
    ['List orders (v2)', 'list_orders_v2'],
    ['Größe & Preis', 'gro_e_preis'],
    ['Café menu', 'cafe_menu'],
    ['订单', '订单'],
    ['', ''],
  ])('%s becomes %s', (typed, name) => {
    expect(toToolName(typed)).toBe(name)
  })
})
