import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { Command } from 'commander'
import { listKeyIdsInUse } from '../installation.ts'
import { adviseOnBaseUrl } from '../platform/base-url-advice.ts'
import { migrationState, openDatabase } from '../platform/db/index.ts'
import { assertUnsealed, checkMasterKeys } from '../platform/installation.store.ts'
import { findMasterKeys, masterKeyFile } from '../platform/master-keys.ts'
import { createSealing } from '../platform/sealing.ts'
import { loadSettings, type SettingOrigin, type Settings, SettingsError } from '../platform/settings.ts'
import { MIGRATIONS_DIRECTORY } from '../version.ts'
import { failureLines } from './failure-lines.ts'
import { print } from './output.ts'

/** `advice` may be left as it is; `mend` keeps Patchbay from working. */
type State = 'ok' | 'advice' | 'mend'
/** One thing looked at; `detail` says what was found and, where it is not well, what to do. */
type Finding = { check: string; state: State; detail: string }
type Look = Omit<Finding, 'check'>

const ok = (detail: string): Look => ({ state: 'ok', detail })
const advice = (detail: string): Look => ({ state: 'advice', detail })
const mend = (detail: string): Look => ({ state: 'mend', detail })

const finding = async (check: string, look: () => Look | Promise<Look>): Promise<Finding> => {
  try {
    return { check, ...(await look()) }
  } catch (error) {
    return { check, ...mend(failureLines(error).join(' ')) }
  }
}

const lookAtNames = ({ unknown }: Settings): Look =>
  unknown.length === 0
    ? ok('all of them can be used')
    : advice(`${unknown.join(', ')}: there is no such setting, so it does nothing`)

/** The folder itself or, where it is still to be made, the one it will be made in. */
const nearestExisting = (path: string): string => (existsSync(path) ? path : nearestExisting(dirname(path)))

const lookAtDirectory = ({ dataDirectory }: Settings): Look => {
  const existing = nearestExisting(dataDirectory)
  if (!statSync(existing).isDirectory())
    return mend(`${existing} is a file, not a folder: set DATABASE_URL to another.`)
  try {
    accessSync(existing, constants.W_OK | constants.X_OK)
  } catch {
    return mend(`${existing} may not be written by this user: mend that, or set DATABASE_URL to a file elsewhere.`)
  }
  return ok(existing === dataDirectory ? `${dataDirectory} is writable` : `${dataDirectory} is made at the first start`)
}

const lookAtDatabase = async ({ database }: Settings): Promise<Look> => {
  const name = database.kind === 'sqlite' ? `SQLite at ${database.file}` : 'PostgreSQL'
  if (database.kind === 'sqlite' && !existsSync(database.file)) return ok(`${name}: made at the first start`)
  const { applied, pending, refusal } = await migrationState(database, { directory: MIGRATIONS_DIRECTORY })
  if (refusal !== undefined) return mend(`${name}: ${refusal.message}`)
  return pending.length === 0
    ? ok(`${name}, ${applied.length} migrations applied`)
    : advice(`${name}, ${pending.length} migrations wait: the next start applies them, as does npx patchbay migrate`)
}

/** Whether its tables are there and are those of this version: only then they can be asked. */
const isUpToDate = async ({ database }: Settings): Promise<boolean> => {
  const { pending, refusal } = await migrationState(database, { directory: MIGRATIONS_DIRECTORY })
  return pending.length === 0 && refusal === undefined
}

const lookAtKeys = async (settings: Settings): Promise<Look> => {
  const { masterKeys, dataDirectory } = settings
  const keys = findMasterKeys(masterKeys, dataDirectory)
  const sealing = keys && createSealing(keys)
  const held = sealing
    ? `key ${sealing.keyIds.join(', ')}`
    : `${masterKeyFile(dataDirectory)} is made at the first start`
  if (!(await isUpToDate(settings))) return ok(held)
  const db = await openDatabase(settings.database)
  try {
    if (sealing) await checkMasterKeys(db, sealing, await listKeyIdsInUse(db))
    else await assertUnsealed(db, dataDirectory)
    return ok(sealing ? `${held} opens what is sealed` : held)
  } finally {
    await db.close()
  }
}

const lookAtBaseUrl = (settings: Settings): Look => {
  const against = adviseOnBaseUrl(settings)
  return against === undefined ? ok(settings.baseUrl) : advice(against)
}

const examine = async (): Promise<{ findings: Finding[]; settings: readonly SettingOrigin[] }> => {
  try {
    const settings = loadSettings()
    const findings = [
      await finding('settings', () => lookAtNames(settings)),
      await finding('data folder', () => lookAtDirectory(settings)),
      await finding('database', () => lookAtDatabase(settings)),
      await finding('master key', () => lookAtKeys(settings)),
      await finding('base URL', () => lookAtBaseUrl(settings)),
    ]
    return { findings, settings: settings.origins }
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    return { findings: error.lines.map(line => ({ check: 'settings', ...mend(line) })), settings: [] }
  }
}

const MARKS = { ok: 'ok    ', advice: 'advice', mend: 'MEND  ' } as const satisfies Record<State, string>

const runDoctor = async (options: { json?: boolean }): Promise<void> => {
  const { findings, settings } = await examine()
  const isWell = findings.every(({ state }) => state !== 'mend')
  print(options, { ok: isWell, findings, settings }, [
    ...settings.map(({ name, value, from }) => `${name}=${value} (${from})`),
    ...(settings.length > 0 ? [''] : []),
    ...findings.map(({ check, state, detail }) => `${MARKS[state]} ${check}: ${detail}`),
  ])
  if (!isWell) process.exitCode = 1
}

export const doctorCommand = (): Command =>
  new Command('doctor')
    .description('check settings, data folder, database, keys and base URL, and say what to mend')
    .option('--json', 'print one JSON value')
    .action(runDoctor)
