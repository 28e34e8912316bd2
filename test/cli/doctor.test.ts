import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { generateMasterKey } from '../../src/lib/process/sealing.ts'
import { type CommandOptions, changeDatabase, runSharedCommand, temporaryDirectory } from '../support/process.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const Diagnosis = z.object({
  ok: z.boolean(),
  findings: z.array(z.object({ check: z.string(), state: z.enum(['ok', 'advice', 'mend']), detail: z.string() })),
  settings: z.array(z.object({ name: z.string(), value: z.string(), from: z.string() })),
})

/** Runs doctor with `--json` and checks that its exit code matches its findings. */
const examine = async (options: CommandOptions) => {
  const { code, stdout, stderr } = await runSharedCommand(['doctor', '--json'], options)
  const { ok, findings, settings } = Diagnosis.parse(JSON.parse(stdout))
  expect({ code, stderr }).toEqual({ code: ok ? 0 : 1, stderr: '' })
  expect(ok).toBe(findings.every(({ state }) => state !== 'mend'))
  return {
    text: stdout,
    settings: new Map(settings.map(({ name, value, from }) => [name, `${value} (${from})`])),
    /** Findings whose state is not `ok`. */
    unwell: findings.flatMap(({ check, state, detail }) => (state === 'ok' ? [] : [`${state} ${check}: ${detail}`])),
  }
}

describe.concurrent('doctor before the first start', () => {
  it('finds no problems and creates nothing', async () => {
    const directory = temporaryDirectory()
    expect((await examine({ directory })).unwell).toEqual([])
    expect(readdirSync(directory)).toEqual([])
  })

  it('shows each setting with its value and origin', async () => {
    const directory = temporaryDirectory()
    writeFileSync(join(directory, '.env'), 'PATCHBAY_SIGNUP=closed\nPATCHBAY_TENANCY=single\n')
    const env = { PATCHBAY_PORT: '9999', PATCHBAY_TENANCY: 'multi' }
    const { settings } = await examine({ directory, env })
    expect(settings.get('PATCHBAY_PORT')).toBe('9999 (environment)')
    expect(settings.get('PATCHBAY_TENANCY')).toBe('multi (environment)')
    expect(settings.get('PATCHBAY_SIGNUP')).toBe('closed (.env)')
    expect(settings.get('PATCHBAY_BASE_URL')).toBe('http://localhost:9999 (default)')
    const { stdout } = await runSharedCommand(['doctor', '--all'], { directory, env })
    for (const [name, value] of settings) expect(stdout).toContain(`${name}=${value}\n`)
    expect(stdout).toMatch(/^Ready\.\n\nChecks that passed:\n(- [^\n]+\n)*- database: SQLite/)
  })

  it('begins with the verdict and shows only the settings that differ from their default', async () => {
    const directory = temporaryDirectory()
    const key = generateMasterKey()
    writeFileSync(join(directory, '.env'), 'PATCHBAY_SIGNUP=closed\nPATCHBAY_TENANCY=multi\n')
    const env = { PATCHBAY_PORT: '9999', PATCHBAY_MASTER_KEY: key, PATCHBAY_HOST: 'localhost' }
    const { code, stdout } = await runSharedCommand(['doctor'], { directory, env })
    const [verdict, , ...settings] = stdout.split('\n')
    expect({ code, verdict }).toEqual({ code: 0, verdict: 'Ready.' })
    expect(settings).toEqual([
      'Settings that differ from the default:',
      'PATCHBAY_PORT=9999 (environment)',
      'PATCHBAY_MASTER_KEY=set (environment)',
      'PATCHBAY_SIGNUP=closed (.env)',
      '',
      'All checks and settings: npx patchbay doctor --all',
      '',
    ])
  })

  it('counts what has to be fixed and what may be, and gives one line to checks that fail for the same reason', async () => {
    const env = { DATABASE_URL: 'postgres://127.0.0.1:1/x', PATCHBAY_PROT: '80', PATCHBAY_HOST: '0.0.0.0' }
    const { code, stdout } = await runSharedCommand(['doctor'], { env })
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /^1 problem:\n- database, master key: .*PostgreSQL.*\n2 suggestions:\n- settings: PATCHBAY_PROT.*\n- base URL: .*\n\n/,
    )
    const { stdout: advised } = await runSharedCommand(['doctor'], { env: { PATCHBAY_PROT: '80' } })
    expect(advised).toMatch(
      /^Ready, with 1 suggestion:\n- settings: PATCHBAY_PROT.*\n\nEvery setting has its default\.\n/,
    )
  })

  it('says which settings are invalid instead of listing the others', async () => {
    const { code, stdout } = await runSharedCommand(['doctor'], { env: { PATCHBAY_PORT: 'x', PATCHBAY_SIGNUP: 'y' } })
    expect(code).toBe(1)
    expect(stdout).toMatch(/^2 problems:\n- settings: PATCHBAY_PORT .*\n- settings: PATCHBAY_SIGNUP .*\n$/)
  })

  it('shows no secret, even if a database cannot be reached', async () => {
    const canary = 'canary/0123456789'
    const key = generateMasterKey()
    const { text, settings, unwell } = await examine({
      env: {
        DATABASE_URL: `postgres://${encodeURIComponent(canary)}:p@ss-canary@127.0.0.1:1/name?password=canary`,
        SMTP_URL: 'smtp://canary:canary@mail.example.com:25',
        PATCHBAY_MASTER_KEY: key,
      },
    })
    expect(text).not.toContain('canary')
    expect(text).not.toContain(key)
    expect(settings.get('DATABASE_URL')).toContain('127.0.0.1:1/name')
    expect(unwell).toEqual(expect.arrayContaining([expect.stringMatching(/^mend database: .*PostgreSQL/)]))
  })

  it('gives advice, without failing, when the defaults of a container only suit this machine', async () => {
    const { unwell } = await examine({ env: { PATCHBAY_HOST: '0.0.0.0' } })
    expect(unwell).toEqual([expect.stringMatching(/^advice base URL: .*0\.0\.0\.0.*PATCHBAY_BASE_URL/)])
  })

  it('gives advice when a base URL is not encrypted or a setting is unknown', async () => {
    const { unwell } = await examine({
      env: { PATCHBAY_BASE_URL: 'http://patchbay.example.com', PATCHBAY_PROT: '80' },
    })
    expect(unwell).toEqual([
      expect.stringMatching(/^advice settings: PATCHBAY_PROT/),
      expect.stringMatching(/^advice base URL: .*not encrypted/),
    ])
  })

  it('names every invalid setting', async () => {
    const { unwell } = await examine({ env: { PATCHBAY_PORT: 'x', PATCHBAY_SIGNUP: 'y' } })
    expect(unwell).toEqual([
      expect.stringMatching(/^mend settings: PATCHBAY_PORT /),
      expect.stringMatching(/^mend settings: PATCHBAY_SIGNUP /),
    ])
  })

  it('reports that its data folder is a file', async () => {
    const directory = temporaryDirectory()
    writeFileSync(join(directory, 'data'), '')
    const { unwell } = await examine({ directory })
    expect(unwell).toEqual(expect.arrayContaining([expect.stringMatching(/^mend data folder: .*data is a file/)]))
  })
})

describe('doctor of an installation in use', () => {
  let directory: string
  beforeAll(async () => {
    directory = temporaryDirectory()
    const args = ['user', 'create', '--email', 'ada@example.com', '--password', 'correct horse battery']
    expect(await runSharedCommand(args, { directory })).toMatchObject({ code: 0 })
  })
  const change = (sql: string): void => changeDatabase(directory, sql)

  it('finds no problems', async () => {
    const { unwell, text } = await examine({ directory })
    expect(unwell).toEqual([])
    expect(text).toContain('matches the sealed values')
  })

  it('names the required master key when a different one is set', async () => {
    const { unwell } = await examine({ directory, env: { PATCHBAY_MASTER_KEY: generateMasterKey() } })
    expect(unwell).toEqual([expect.stringMatching(/^mend master key: .*sealed with master key [0-9a-f]{8}/)])
  })

  it('says how to apply pending migrations, and what to do about a newer database', async () => {
    change('CREATE TABLE "Kept" AS SELECT * FROM "_prisma_migrations"; DELETE FROM "_prisma_migrations"')
    const waiting = await examine({ directory })
    change('INSERT INTO "_prisma_migrations" SELECT * FROM "Kept"; DROP TABLE "Kept"')
    expect(waiting.unwell).toEqual([expect.stringMatching(/^advice database: .*pending migrations.*patchbay migrate/)])
    change(`UPDATE "_prisma_migrations" SET "migration_name" = '9999_of_the_future'`)
    expect((await examine({ directory })).unwell).toEqual([expect.stringMatching(/^mend database: .*newer Patchbay/)])
  })
})
