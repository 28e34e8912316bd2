import { describe, expect, it } from 'vitest'
import { listWrittenCredentials, listWrittenInTool } from '../../src/servers/access/written-credentials.ts'
import type { UpstreamConfig } from '../../src/upstreams/upstream.ts'

const SETTINGS = {
  timeoutMs: 1_000,
  isEager: false,
  features: { tools: true, resources: true, prompts: true },
  auth: { type: 'none' as const },
}
const TOKEN = 'ghp_0123456789abcdefghijklmnopqrstuvwxyz'
const secrets = new Set(['key'])
const find = (config: UpstreamConfig): string[] => listWrittenCredentials(config, secrets)
const remote = (headers: Record<string, string>, url = 'https://mcp.example.com/mcp') =>
  find({ ...SETTINGS, transport: 'http', url, headers })
const command = (env: Record<string, string>, args: string[] = []) =>
  find({ ...SETTINGS, transport: 'stdio', command: 'npx', args, env })

describe('credentials that are written out in the settings of an MCP server', () => {
  it.each([
    ['Authorization', 'Bearer abc'],
    ['Authorization', 'Basic dTpw'],
    ['Cookie', 'session=1'],
    ['X-Api-Key', 'abc'],
    ['X-Other', TOKEN],
    ['X-Other', 'Bearer abc'],
    ['Authorization', 'Bearer {{plain_global}}'],
    ['Authorization', `{{key}} ${TOKEN}`],
  ])('are found in the header %s: %s', (name, value) => {
    expect(remote({ 'X-Team': 'blue', [name]: value })).toEqual([`header ${name}`])
  })

  it.each([
    ['Authorization', 'Bearer {{key}}'],
    ['Authorization', 'ApiKey me:{{ key }}'],
    ['X-Api-Key', '{{key}}'],
    ['X-Api-Key', 'YOUR_API_KEY'],
    ['X-Api-Key', ''],
    ['X-CSRF-Token', '1'],
    ['Accept-Language', 'en'],
  ])('are not found in the header %s: %s', (name, value) => {
    expect(remote({ [name]: value })).toEqual([])
  })

  it('are found in linear time', () => {
    const spaces = ' '.repeat(50_000)
    expect(remote({ Authorization: `{{${spaces}`, 'X-Api-Key': `{{${spaces}key${spaces}}}` })).toEqual([
      'header Authorization',
    ])
  })

  it('are found in a URL', () => {
    expect(remote({}, 'https://mcp.example.com/mcp?api_key=abc')).toEqual(['URL'])
    expect(remote({}, `https://mcp.example.com/${TOKEN}/mcp`)).toEqual(['URL'])
    expect(remote({}, 'https://me:abc@mcp.example.com/mcp')).toEqual(['URL'])
    expect(remote({}, 'https://mcp.example.com/mcp?api_key={{key}}&page=2')).toEqual([])
  })

  it('are found in the variables and arguments of a command', () => {
    expect(command({ GITHUB_TOKEN: 'abc', DB_PASSWORD: 'abc', DSN: 'postgres://me:abc@db/x', LOG: 'off' })).toEqual([
      'variable GITHUB_TOKEN',
      'variable DB_PASSWORD',
      'variable DSN',
    ])
    expect(command({ GITHUB_TOKEN: '{{key}}' }, ['-y', 'a-server', '--api-key', '{{key}}', '--read-only'])).toEqual([])
    for (const args of [['--api-key=abc'], ['--token', 'abc'], ['a-server', TOKEN]]) {
      expect(command({}, args)).toEqual(['arguments'])
    }
  })
})

describe('credentials that are written out in a tool', () => {
  type WrittenTool = Parameters<typeof listWrittenInTool>[0]
  const findIn = (tool: Partial<WrittenTool['tool']>, bindings: WrittenTool['bindings'] = {}) =>
    listWrittenInTool({ tool: { url: 'https://api.example.com/', headers: [], parameters: {}, ...tool }, bindings })

  it.each([
    'https://api.example.com/orders/{{id}}?api_key=abc',
    `https://api.example.com/${TOKEN}/{{id}}`,
    'https://me:abc@api.example.com/{{id}}',
  ])('are found in the URL %s', url => {
    expect(findIn({ url })).toEqual(['URL'])
  })

  it.each([
    'https://api.example.com/orders/{{id}}?api_key={{api_key}}&page=2',
    'https://{{user}}:{{password}}@api.example.com/bot{{token}}',
    '{{base}}/orders?limit={{integer:limit=20}}',
    'https://api.example.com/orders?tag={{json:tags? | repeat}}&token={{token?}}',
    'https://{{host}}/{{path | segments}}?depot=LEJ',
  ])('are not found in the URL %s', url => {
    expect(findIn({ url })).toEqual([])
  })

  it('are found in its headers, also beside a placeholder', () => {
    const headers = [
      { name: 'X-Api-Key', value: 'abc' },
      { name: 'X-Signed', value: `{{date}} ${TOKEN}` },
      { name: 'Authorization', value: 'Bearer {{token}}' },
    ]
    expect(findIn({ headers })).toEqual(['header X-Api-Key', 'header X-Signed'])
  })

  it.each([
    '{"order": {{json:order}}, "client_secret": "abc"}',
    `{"text": "{{text}} ${TOKEN}"}`,
    'grant_type=client_credentials&client_secret=abc',
    `<a>${TOKEN}</a>`,
  ])('are found in the body %s', body => {
    expect(findIn({ body })).toEqual(['body'])
  })

  it.each([
    '{"client_secret": "{{secret}}", "page_token": "abc", "n": {{integer:n=5}}}',
    'client_secret={{secret}}&page=2',
    '{"password": "YOUR_PASSWORD"}',
  ])('are not found in the body %s', body => {
    expect(findIn({ body })).toEqual([])
  })

  it('are found in a body in linear time', () => {
    expect(findIn({ body: `{${'"a" : "\\'.repeat(60_000)}` })).toEqual([])
  })

  it('are found in the defaults of parameters that the model may set', () => {
    const tool = {
      url: 'https://api.example.com/?k={{string:api_key=abc}}&q={{q=shoes}}',
      parameters: { signature: { default: TOKEN }, q: { default: 'boots' } },
    }
    expect(findIn(tool)).toEqual(['parameter api_key', 'parameter signature'])
    const secret = { source: 'server', key: 'key' } as const
    expect(findIn(tool, { api_key: secret, signature: { source: 'exposed' } })).toEqual(['parameter signature'])
  })

  it('are found in fixed values, unless they are those of a global', () => {
    const fixed = { api_key: 'abc', note: TOKEN, password: '{{secret}}', region: 'eu', limit: 20 }
    const bindings = Object.entries(fixed).map(([name, value]) => [name, { source: 'instance', value }] as const)
    expect(findIn({}, Object.fromEntries(bindings))).toEqual(['parameter api_key', 'parameter note'])
  })
})
