import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadSettings, SettingsError } from '../../src/lib/process/settings.ts'
import { temporaryDirectory } from '../support/process.ts'

const EMPTY = temporaryDirectory()
const linesFor = (env: NodeJS.ProcessEnv, directory = EMPTY): readonly string[] => {
  try {
    loadSettings(env, directory)
    return []
  } catch (error) {
    if (error instanceof SettingsError) return error.lines
    throw error
  }
}

describe('settings', () => {
  it.each([
    ['PATCHBAY_HOST', '127.0.0.1:8080'],
    ['PATCHBAY_PORT', '65536'],
    ['PATCHBAY_PORT', '80.5'],
    ['PORT', 'http'],
    ['PATCHBAY_BASE_URL', 'patchbay.example.com'],
    ['PATCHBAY_BASE_URL', 'https://patchbay.example.com/base'],
    ['PATCHBAY_BASE_URL', 'ftp://patchbay.example.com'],
    ['DATABASE_URL', 'mysql://user@host/name'],
    ['DATABASE_URL', 'file:./a.db?mode=memory'],
    ['PATCHBAY_MASTER_KEY', 'c2hvcnQ='],
    ['PATCHBAY_MASTER_KEY', ','],
    ['PATCHBAY_ALLOW_PRIVATE_NETWORKS', 'intranet'],
    ['PATCHBAY_ALLOW_PRIVATE_NETWORKS', '10.0.0.0/33'],
    ['PATCHBAY_ALLOWED_ORIGINS', 'app.example.com'],
    ['PATCHBAY_ALLOWED_ORIGINS', '*'],
    ['PATCHBAY_ALLOW_STDIO', 'yes'],
    ['PATCHBAY_TOKEN', 'two words'],
    ['PATCHBAY_METRICS_TOKEN', 'guessed-in-no-time'],
    ['PATCHBAY_METRICS_TOKEN', 'two words that are long enough for a token'],
    ['PATCHBAY_SIGNUP', 'sometimes'],
    ['PATCHBAY_TENANCY', 'none'],
    ['PATCHBAY_TRUST_PROXY', 'proxy.example.com'],
    ['PATCHBAY_LOG_LEVEL', 'loud'],
    ['SMTP_URL', 'mail.example.com:25'],
    ['PATCHBAY_MEMORY_MB', '1 GB'],
    ['PATCHBAY_MEMORY_MB', '200'],
    ['PATCHBAY_ANSWER_CACHE_MB', '256 MB'],
    ['PATCHBAY_MAX_REQUEST_BYTES', '4 MiB'],
    ['PATCHBAY_MAX_RESPONSE_BYTES', '0'],
    ['PATCHBAY_MAX_TOOL_TIMEOUT_MS', '-1'],
    ['PATCHBAY_MAX_REDIRECTS', '21'],
    ['PATCHBAY_MAX_CALLS_PER_ORIGIN', '257'],
    ['PATCHBAY_MAX_TOOLS_PER_SERVER', '0'],
    ['PATCHBAY_MAX_JSON_DEPTH', '1e9'],
    ['PATCHBAY_MAX_SESSIONS_PER_SERVER', 'many'],
    ['PATCHBAY_MAX_SESSION_IDLE_MS', '24h'],
    ['PATCHBAY_MAX_DRAIN_MS', '10000ms'],
  ])('reject %s=%s with one line that names the setting and not the value', (name, value) => {
    const lines = linesFor({ [name]: value })
    expect(lines).toEqual([expect.stringMatching(new RegExp(`^${name} (is not|must be) `))])
    expect(lines.join()).not.toContain(`"${value}"`)
  })

  it.each([
    'login.example.com',
    'http://login.example.com',
    'https://user@login.example.com',
    'https://login.example.com/?tenant=1',
    'https://login.example.com/.well-known/openid-configuration',
    'ftp://login.example.com',
  ])('reject PATCHBAY_OIDC_ISSUER=%s, even with a client id', issuer => {
    const lines = linesFor({ PATCHBAY_OIDC_ISSUER: issuer, PATCHBAY_OIDC_CLIENT_ID: 'patchbay' })
    expect(lines).toEqual([expect.stringMatching(/^PATCHBAY_OIDC_ISSUER is not an issuer/)])
  })

  it('of an external provider require each other, with one line for each missing one', () => {
    expect(linesFor({ PATCHBAY_OIDC_ISSUER: 'https://login.example.com' })).toEqual([
      expect.stringMatching(/^PATCHBAY_OIDC_CLIENT_ID is required with PATCHBAY_OIDC_ISSUER/),
    ])
    expect(linesFor({ PATCHBAY_OIDC_CLIENT_ID: 'patchbay', PATCHBAY_OIDC_CLIENT_SECRET: 'hush' })).toEqual([
      expect.stringMatching(/^PATCHBAY_OIDC_CLIENT_ID has no effect without PATCHBAY_OIDC_ISSUER/),
      expect.stringMatching(/^PATCHBAY_OIDC_CLIENT_SECRET has no effect without PATCHBAY_OIDC_ISSUER/),
    ])
  })

  it('accept an embeddings endpoint only with its model, and an address without credentials', () => {
    const url = 'https://models.example.com/v1/embeddings'
    expect(linesFor({ PATCHBAY_EMBEDDINGS_URL: url })).toEqual([
      expect.stringMatching(/^PATCHBAY_EMBEDDINGS_MODEL is required with PATCHBAY_EMBEDDINGS_URL/),
    ])
    expect(linesFor({ PATCHBAY_EMBEDDINGS_MODEL: 'small', PATCHBAY_EMBEDDINGS_KEY: 'hush' })).toEqual([
      expect.stringMatching(/^PATCHBAY_EMBEDDINGS_MODEL has no effect without PATCHBAY_EMBEDDINGS_URL/),
      expect.stringMatching(/^PATCHBAY_EMBEDDINGS_KEY has no effect without PATCHBAY_EMBEDDINGS_URL/),
    ])
    for (const bad of ['models', 'file:///etc/passwd', 'https://me:hush@models.example.com/', `${url}#hush`]) {
      const lines = linesFor({ PATCHBAY_EMBEDDINGS_URL: bad, PATCHBAY_EMBEDDINGS_MODEL: 'small' })
      expect(lines, bad).toEqual([expect.stringMatching(/^PATCHBAY_EMBEDDINGS_URL is not an address such as/)])
      expect(lines.join(' ')).not.toContain('hush')
    }
  })

  it('never show the key of an embeddings endpoint, nor one in its address', () => {
    const { embeddings, origins } = loadSettings(
      {
        PATCHBAY_EMBEDDINGS_URL: 'http://10.0.0.5/v1/embeddings?api-key=hush',
        PATCHBAY_EMBEDDINGS_MODEL: 'small',
        PATCHBAY_EMBEDDINGS_KEY: 'hush',
      },
      EMPTY,
    )
    expect(embeddings).toEqual({ url: 'http://10.0.0.5/v1/embeddings?api-key=hush', model: 'small', key: 'hush' })
    expect(JSON.stringify(origins)).not.toContain('hush')
    expect(loadSettings({}, EMPTY).embeddings).toBeUndefined()
  })

  it('name an external provider after its host, and never show its secret', () => {
    const { externalProvider, origins } = loadSettings(
      {
        PATCHBAY_OIDC_ISSUER: 'http://localhost:9000/realm',
        PATCHBAY_OIDC_CLIENT_ID: 'patchbay',
        PATCHBAY_OIDC_CLIENT_SECRET: 'hush',
      },
      EMPTY,
    )
    expect(externalProvider).toMatchObject({ name: 'localhost:9000', clientSecret: 'hush' })
    const shown = new Map(origins.map(({ name, value }) => [name, value]))
    expect(shown.get('PATCHBAY_OIDC_NAME')).toBe('localhost:9000')
    expect(shown.get('PATCHBAY_OIDC_CLIENT_SECRET')).toBe('set')
  })

  it('never show the metrics token', () => {
    const token = Buffer.alloc(32, 7).toString('base64')
    const { metricsToken, origins } = loadSettings({ PATCHBAY_METRICS_TOKEN: token }, EMPTY)
    expect(metricsToken).toBe(token)
    expect(origins).toContainEqual({
      name: 'PATCHBAY_METRICS_TOKEN',
      value: 'set',
      from: 'environment',
      isDefault: false,
    })
    expect(JSON.stringify(origins)).not.toContain(token)
  })

  it.each([
    ['no setting at all', {}],
    ['empty values, which count as unset', { PATCHBAY_PORT: '', DATABASE_URL: '', PATCHBAY_MASTER_KEY: '' }],
    ['addresses in brackets', { PATCHBAY_HOST: '[::1]' }],
    ['several keys', { PATCHBAY_MASTER_KEY: [1, 2].map(n => Buffer.alloc(32, n).toString('base64')).join(', ') }],
  ])('accept %s', (_what, env) => {
    expect(linesFor(env)).toEqual([])
  })

  it('resolve each name of loopback to one address', () => {
    for (const [host, address] of [
      ['localhost', '127.0.0.1'],
      ['[::1]', '::1'],
    ]) {
      expect(loadSettings({ PATCHBAY_HOST: host }, EMPTY)).toMatchObject({ host: address, listensOnLoopback: true })
    }
    expect(loadSettings({ PATCHBAY_HOST: '0.0.0.0' }, EMPTY)).toMatchObject({ listensOnLoopback: false })
  })

  it.each([
    [{}, true],
    [{ PATCHBAY_HOST: 'localhost' }, true],
    [{ PATCHBAY_HOST: '127.0.0.1' }, false],
    [{ PORT: '5000' }, false],
  ])('with %j listen on ::1 too: %s', (env, isBoth) => {
    expect(loadSettings(env, EMPTY)).toMatchObject({ listensOnIpv6Loopback: isBoth })
  })

  it('take the port from PORT, as hosting platforms set it, and then listen on every address', () => {
    const { origins, ...settings } = loadSettings({ PORT: '5000' }, EMPTY)
    expect(settings).toMatchObject({ host: '0.0.0.0', port: 5000, listensOnLoopback: false })
    expect(settings.baseUrl).toBe('http://localhost:5000')
    expect(origins).toContainEqual({ name: 'PORT', value: '5000', from: 'environment', isDefault: false })
    expect(origins).toContainEqual({ name: 'PATCHBAY_PORT', value: '5000', from: 'default', isDefault: true })
    expect(loadSettings({ PORT: '5000', PATCHBAY_HOST: '::1' }, EMPTY)).toMatchObject({ host: '::1', port: 5000 })
  })

  it('ignore PORT if PATCHBAY_PORT is set in the environment or in .env', () => {
    const directory = temporaryDirectory()
    writeFileSync(join(directory, '.env'), 'PATCHBAY_PORT=9000\n')
    expect(loadSettings({ PORT: '5000' }, directory)).toMatchObject({ host: '127.0.0.1', port: 9000 })
    const env = { PORT: 'unused', PATCHBAY_PORT: '9000' }
    expect(loadSettings(env, EMPTY)).toMatchObject({ host: '127.0.0.1', port: 9000 })
  })

  it.each([
    ['with a byte order mark', '\uFEFFPATCHBAY_PORT=9000\n'],
    ['with Windows line ends', '# ports\r\nPATCHBAY_PORT=9000\r\n'],
  ])('are read from a .env file %s', (_what, text) => {
    const directory = temporaryDirectory()
    writeFileSync(join(directory, '.env'), text)
    expect(loadSettings({}, directory)).toMatchObject({ port: 9000 })
  })

  it('report a .env that is not a file', () => {
    const directory = temporaryDirectory()
    mkdirSync(join(directory, '.env'))
    expect(linesFor({}, directory)).toEqual([expect.stringMatching(/\.env cannot be read/)])
  })
})

describe('the environment of upstream commands', () => {
  it('contains what finding the command requires, and no other variable', () => {
    const given = { PATH: '/bin', HOME: '/home/me', AWS_SECRET_ACCESS_KEY: 's', NODE_OPTIONS: '--inspect', LANG: '' }
    expect(loadSettings(given, EMPTY).commandEnvironment).toEqual({ PATH: '/bin', HOME: '/home/me' })
  })
})
