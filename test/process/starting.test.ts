import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { generateMasterKey, keyIdOf } from '../../src/lib/process/sealing.ts'
import { databaseKinds } from '../support/databases.ts'
import { freePort, HAS_IPV6_LOOPBACK } from '../support/free-port.ts'
import {
  type CommandOptions,
  changeDatabase,
  runCommand,
  runSharedCommand,
  startCommand,
  startPatchbay,
  temporaryDirectory,
} from '../support/process.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const idOf = (key: string): string => keyIdOf(Buffer.from(key, 'base64'))

/** Returns the lines that `serve` prints when it cannot start. With `runCommand`, the process must also end by itself. */
const refusalOf = async (
  options: CommandOptions,
  run: typeof runSharedCommand = runSharedCommand,
): Promise<string[]> => {
  const { code, stdout, stderr } = await run(['serve'], options)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  const lines = stderr.trimEnd().split('\n')
  expect(lines.filter(line => !line.startsWith('patchbay: '))).toEqual([])
  return lines.map(line => line.slice('patchbay: '.length))
}

/** Returns the only line that `serve` prints when it cannot start. */
const onlyRefusalOf = async (...given: Parameters<typeof refusalOf>): Promise<string> => {
  const [line = '', ...more] = await refusalOf(...given)
  expect(more).toEqual([])
  return line
}

/** Creates a folder in which Patchbay has already run. */
const usedDirectory = async (env: NodeJS.ProcessEnv = {}): Promise<string> => {
  const directory = temporaryDirectory()
  const made = await runSharedCommand(
    ['user', 'create', '--email', 'ada@example.com', '--password', 'correct horse battery'],
    { directory, env },
  )
  expect(made).toMatchObject({ code: 0 })
  return directory
}

describe.concurrent('a start with invalid settings', () => {
  it('reports all of them, one line each, without their values, and creates nothing', async () => {
    const directory = temporaryDirectory()
    const canary = 'canary-value'
    const lines = await refusalOf({
      directory,
      env: {
        NODE_ENV: 'production',
        PATCHBAY_PORT: canary,
        PATCHBAY_BASE_URL: `http://host/${canary}`,
        DATABASE_URL: `postgres://user:${canary}@host:port/name`,
        PATCHBAY_LOG_LEVEL: canary,
        SMTP_URL: canary,
        PATCHBAY_TRUST_PROXY: `10.0.0.0/8,${canary}`,
      },
    })
    expect(lines.map(line => line.split(' ')[0]).sort()).toEqual([
      'DATABASE_URL',
      'PATCHBAY_BASE_URL',
      'PATCHBAY_LOG_LEVEL',
      'PATCHBAY_MASTER_KEY',
      'PATCHBAY_PORT',
      'PATCHBAY_TRUST_PROXY',
      'SMTP_URL',
    ])
    expect(lines.join()).not.toContain(canary)
    expect(readdirSync(directory)).toEqual([])
  })

  it('reports a missing master key with PostgreSQL in production', async () => {
    const env = { NODE_ENV: 'production', DATABASE_URL: 'postgres://user@127.0.0.1:1/name' }
    expect(await refusalOf({ env })).toEqual([expect.stringMatching(/^PATCHBAY_MASTER_KEY is required .*PostgreSQL/)])
  })

  it('reports a setting from .env, unless the environment overrides it', async () => {
    const directory = temporaryDirectory()
    writeFileSync(join(directory, '.env'), 'PATCHBAY_PORT=none\nPATCHBAY_SIGNUP=never\n')
    const env = { PATCHBAY_SIGNUP: 'open' }
    expect(await refusalOf({ directory, env })).toEqual(['PATCHBAY_PORT is not a whole number'])
  })
})

describe.concurrent('a start on an unavailable address', () => {
  const addresses = HAS_IPV6_LOOPBACK ? ['127.0.0.1', '::1'] : ['127.0.0.1']
  it.for(addresses)('names a port that is in use on %s', async (address, { onTestFinished }) => {
    const other = createServer()
    const port = await freePort()
    await new Promise<void>(resolve => other.listen(port, address, resolve))
    onTestFinished(() => void other.close())
    const line = await onlyRefusalOf({ env: { PATCHBAY_PORT: String(port) } }, runCommand)
    expect(line).toMatch(new RegExp(`^Port ${port} is in use.*PATCHBAY_PORT`))
  })

  it('names a host that belongs to another machine', async () => {
    // This address is reserved for documentation (RFC 5737), so no machine has it.
    const env = { PATCHBAY_HOST: '203.0.113.1', PATCHBAY_PORT: String(await freePort()) }
    expect(await refusalOf({ env })).toEqual([expect.stringMatching(/^203\.0\.113\.1 .*PATCHBAY_HOST/)])
  })
})

describe.concurrent('a start with an unusable data folder', () => {
  it.each([
    ['the key', {}],
    ['the database', { PATCHBAY_MASTER_KEY: generateMasterKey() }],
  ])('names the folder if %s cannot be created in it', async (_what, env) => {
    const directory = temporaryDirectory()
    writeFileSync(join(directory, 'data'), 'a file')
    const line = await onlyRefusalOf({ directory, env })
    expect(line).toContain(join(directory, 'data'))
    expect(line).toMatch(/PATCHBAY_MASTER_KEY|DATABASE_URL/)
  })

  it('names the folder if it is a dangling link, such as to a disk that is not mounted', async () => {
    const directory = temporaryDirectory()
    symlinkSync(join(directory, 'mount/data'), join(directory, 'data'))
    const line = await onlyRefusalOf({ directory })
    expect(line).toMatch(/^The data folder is not writable .*DATABASE_URL/)
    expect(line).toContain(join(directory, 'data'))
  })
})

describe.concurrent('a start with an unusable database', () => {
  it.each([
    ['a damaged file', 'no database at all '.repeat(1_000), /damaged.*restore it from a backup/, runSharedCommand],
    // Each command waits a while for another process to fill the file.
    ['a file of 0 bytes', '', /empty \(0 bytes\): restore it from a backup, or delete it/, runCommand],
  ])('names %s', async (_what, content, message, run) => {
    const directory = temporaryDirectory()
    mkdirSync(join(directory, 'data'))
    const file = join(directory, 'data/patchbay.db')
    writeFileSync(file, content)
    const [line, doctor] = await Promise.all([onlyRefusalOf({ directory }, run), run(['doctor'], { directory })])
    expect(line).toMatch(message)
    expect(line).toContain(file)
    expect(readFileSync(file, 'utf8')).toBe(content)
    expect(doctor).toMatchObject({ code: 1, stdout: expect.stringMatching(message) })
  })

  it('names an unreachable PostgreSQL without its password', async () => {
    const env = { DATABASE_URL: 'postgres://user:canary-password@127.0.0.1:1/name' }
    const lines = await refusalOf({ env })
    expect(lines).toEqual([expect.stringMatching(/PostgreSQL/)])
    expect(lines.join()).not.toContain('canary')
  })

  it('ends at once if PostgreSQL has data sealed with a different key', async ({ onTestFinished }) => {
    const [kind] = databaseKinds.filter(({ kind }) => kind === 'postgresql')
    if (kind === undefined) throw new Error('no PostgreSQL')
    const database = await kind.create()
    onTestFinished(database.drop)
    const [mine, strange] = [generateMasterKey(), generateMasterKey()]
    await usedDirectory({ DATABASE_URL: database.url, PATCHBAY_MASTER_KEY: mine })
    const server = startCommand(['serve'], { env: { DATABASE_URL: database.url, PATCHBAY_MASTER_KEY: strange } })
    await vi.waitFor(() => expect(server.stderr()).toContain(idOf(mine)), { timeout: 30_000 })
    // An open connection pool would keep the process alive for 10 s.
    expect(await Promise.race([server.ended, delay(9_000, 'still running', { ref: false })])).toMatchObject({ code: 1 })
  })
})

describe.concurrent('a start without an account', () => {
  const signUpAt = async (port: number | string, body: Record<string, string>, extra = {}): Promise<number> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/signup`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...extra },
      body: JSON.stringify({ password: 'correct horse battery', ...body }),
    })
    await response.text()
    return response.status
  }

  it('prints a setup token as JSON with --json if it listens beyond loopback; only the first account needs it', async () => {
    const port = String(await freePort())
    const env = { PATCHBAY_HOST: '0.0.0.0', PATCHBAY_PORT: port, PATCHBAY_LOG_LEVEL: 'warn' }
    const server = startCommand(['serve', '--json'], { env })
    await server.said('\n')
    const { setupToken, ...ready } = z
      .looseObject({ setupToken: z.hex().length(32) })
      .parse(JSON.parse(server.stdout()))
    expect(ready).toEqual({ ready: true, baseUrl: `http://localhost:${port}` })
    expect(await signUpAt(port, { email: 'ada@example.com' })).toBe(403)
    expect(await signUpAt(port, { email: 'ada@example.com', setupToken: 'a'.repeat(32) })).toBe(403)
    expect(await signUpAt(port, { email: 'ada@example.com', setupToken })).toBe(201)
    expect(await signUpAt(port, { email: 'bob@example.com' })).toBe(201)
  })

  it('on loopback says where to create one, and which setup token that requires through a proxy only', async () => {
    const patchbay = await startPatchbay()
    const line = /No account exists yet.*\. Through a proxy this requires the setup token "(\w+)"/
    const setupToken = line.exec(patchbay.stdout())?.[1] ?? ''
    const email = 'ada@example.com'
    const proxied = { 'x-forwarded-for': '192.0.2.1' }
    expect(await signUpAt(patchbay.port, { email }, proxied)).toBe(403)
    expect(await signUpAt(patchbay.port, { email, setupToken }, proxied)).toBe(201)
    const another = await startPatchbay()
    expect(await signUpAt(another.port, { email })).toBe(201)
  })
})

describe('a start with an existing database', () => {
  let used: string
  let env: NodeJS.ProcessEnv
  beforeAll(async () => {
    used = await usedDirectory()
    env = { PATCHBAY_PORT: String(await freePort()) }
  })
  const keyFile = () => join(used, 'data/master.key')
  const keyInUse = () => readFileSync(keyFile(), 'utf8').trim()

  it('fails with a different master key, and names the ids of both keys', async () => {
    const strange = generateMasterKey()
    const lines = await refusalOf({ directory: used, env: { ...env, PATCHBAY_MASTER_KEY: strange } })
    expect(lines).toEqual([expect.stringContaining(idOf(keyInUse()))])
    expect(lines).toEqual([expect.stringContaining(idOf(strange))])
    expect(lines.join()).not.toContain(strange)
  })

  it('fails without the key file, names the file and the key’s id, and creates no new key', async () => {
    const key = keyInUse()
    rmSync(keyFile())
    const line = await onlyRefusalOf({ directory: used, env })
    expect(readdirSync(join(used, 'data'))).not.toContain('master.key')
    writeFileSync(keyFile(), `${key}\n`)
    expect(line).toContain(idOf(key))
    expect(line).toContain(`${keyFile()} is missing`)
  })

  it('fails if the key file contains no key', async () => {
    const key = keyInUse()
    writeFileSync(keyFile(), 'no key at all\n')
    const lines = await refusalOf({ directory: used, env })
    writeFileSync(keyFile(), `${key}\n`)
    expect(lines).toEqual([expect.stringMatching(/data\/master\.key does not contain a master key: .*backup/)])
  })

  it('prints one line and no warning, and needs no setup token, though it listens beyond loopback', async () => {
    const open = { PATCHBAY_HOST: '0.0.0.0', PATCHBAY_SHUTDOWN_DELAY_MS: '0' }
    const patchbay = await startPatchbay({ directory: used, env: open })
    expect(await patchbay.stop()).toMatchObject({
      code: 0,
      stdout: `Patchbay is ready at ${patchbay.origin}\n`,
      stderr: '',
    })
  })

  it('fails if an applied migration has changed', async () => {
    changeDatabase(used, `UPDATE "_prisma_migrations" SET "checksum" = upper("checksum")`)
    const lines = await refusalOf({ directory: used, env })
    changeDatabase(used, `UPDATE "_prisma_migrations" SET "checksum" = lower("checksum")`)
    expect(lines).toEqual([expect.stringMatching(/migration \S+ has changed since it was applied/)])
  })

  it('fails if a newer version has migrated the database', async () => {
    const name = '99991231000000_of_the_future'
    changeDatabase(
      used,
      `INSERT INTO "_prisma_migrations" ("id", "checksum", "migration_name", "finished_at") VALUES ('x', 'x', '${name}', 1)`,
    )
    expect(await refusalOf({ directory: used, env })).toEqual([
      expect.stringMatching(new RegExp(`newer Patchbay.*${name}`)),
    ])
  })
})
