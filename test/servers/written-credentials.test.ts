import { describe, expect, it } from 'vitest'
import { listWrittenCredentials } from '../../src/servers/access/written-credentials.ts'
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
