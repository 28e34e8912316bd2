import { Command } from 'commander'
import { migrationState, openDatabase } from '../platform/db/index.ts'
import { assertMasterKeys } from '../platform/installation.store.ts'
import { loadMasterKeys } from '../platform/master-keys.ts'
import { createSealing } from '../platform/sealing.ts'
import { loadSettings, type Settings } from '../platform/settings.ts'
import { listSealingKeyIds } from '../servers/index.ts'
import { MIGRATIONS_DIRECTORY } from '../version.ts'
import { print } from './output.ts'

/** One thing looked at; `remedy` says what to do where it is not well. */
type Finding = { check: string; ok: boolean; detail: string }

const finding = async (check: string, look: () => Promise<string>): Promise<Finding> => {
  try {
    return { check, ok: true, detail: await look() }
  } catch (error) {
    return { check, ok: false, detail: error instanceof Error ? error.message : String(error) }
  }
}

const lookAtDatabase = async ({ database }: Settings): Promise<string> => {
  const { applied, pending } = await migrationState(database, { directory: MIGRATIONS_DIRECTORY })
  const kind = database.kind === 'sqlite' ? `SQLite at ${database.file}` : 'PostgreSQL'
  return pending.length === 0
    ? `${kind}, ${applied.length} migrations applied`
    : `${kind}; ${pending.length} migrations wait: the next start applies them, or npx patchbay migrate`
}

const lookAtKeys = async (settings: Settings): Promise<string> => {
  const sealing = createSealing(loadMasterKeys(settings.masterKeys, settings.dataDirectory))
  const { pending } = await migrationState(settings.database, { directory: MIGRATIONS_DIRECTORY })
  if (pending.length > 0) return `key ${sealing.keyIds.join(', ')}; nothing to open before the database is migrated`
  const db = await openDatabase(settings.database)
  try {
    await assertMasterKeys(db, sealing, await listSealingKeyIds(db))
    return `key ${sealing.keyIds.join(', ')} opens what is sealed`
  } finally {
    await db.close()
  }
}

const lookAtBaseUrl = async ({ baseUrl, listensOnLoopback, host }: Settings): Promise<string> => {
  const { protocol, hostname } = new URL(baseUrl)
  const isLocalName = /^(localhost|127\.|\[::1\])/.test(hostname)
  if (!listensOnLoopback && isLocalName) {
    throw new Error(
      `Patchbay listens on ${host}, but tells clients ${baseUrl}, which only this machine can reach: ` +
        'set PATCHBAY_BASE_URL to the address that clients use.',
    )
  }
  if (protocol === 'http:' && !isLocalName) {
    throw new Error(`${baseUrl} is not encrypted: put a proxy with TLS in front and set PATCHBAY_BASE_URL to https.`)
  }
  return baseUrl
}

const runDoctor = async (options: { json?: boolean }): Promise<void> => {
  const settings = loadSettings()
  const findings = [
    await finding('database', () => lookAtDatabase(settings)),
    await finding('master key', () => lookAtKeys(settings)),
    await finding('base URL', () => lookAtBaseUrl(settings)),
  ]
  const ok = findings.every(one => one.ok)
  print(options, { ok, findings, settings: settings.origins }, [
    ...settings.origins.map(({ name, value, from }) => `${name}=${value} (${from})`),
    '',
    ...findings.map(one => `${one.ok ? 'ok  ' : 'MEND'} ${one.check}: ${one.detail}`),
  ])
  if (!ok) process.exitCode = 1
}

export const doctorCommand = (): Command =>
  new Command('doctor')
    .description('check settings, database, keys and base URL, and say what to mend')
    .option('--json', 'print one JSON value')
    .action(runDoctor)
