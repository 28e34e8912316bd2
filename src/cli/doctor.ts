import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { Command } from 'commander'
import { listKeyIdsInUse } from '../installation.ts'
import { openDatabase } from '../lib/db/client.ts'
import { migrationState } from '../lib/db/migrate.ts'
import { formatCount } from '../lib/kernel/format.ts'
import { adviseOnBaseUrl } from '../lib/process/base-url-advice.ts'
import { assertUnsealed, checkMasterKeys } from '../lib/process/installation.store.ts'
import { findMasterKeys, masterKeyFile } from '../lib/process/master-keys.ts'
import { createSealing } from '../lib/process/sealing.ts'
import { loadSettings, type SettingOrigin, type Settings, SettingsError } from '../lib/process/settings.ts'
import { MIGRATIONS_DIRECTORY } from '../lib/process/version.ts'
import { failureLines } from './failure-lines.ts'
import { print } from './output.ts'
import { askRunningServer } from './running-server.ts'

/** `advice` can be ignored. `mend` marks an error that prevents Patchbay from working. */
type State = 'ok' | 'advice' | 'mend'
/** The result of one check. `detail` says what was found and, if there is a problem, what to do. */
type Finding = { check: string; state: State; detail: string }
type Verdict = Omit<Finding, 'check'>

const ok = (detail: string): Verdict => ({ state: 'ok', detail })
const advice = (detail: string): Verdict => ({ state: 'advice', detail })
const mend = (detail: string): Verdict => ({ state: 'mend', detail })

const finding = async (name: string, check: () => Verdict | Promise<Verdict>): Promise<Finding> => {
  try {
    return { check: name, ...(await check()) }
  } catch (error) {
    return { check: name, ...mend(failureLines(error).join(' ')) }
  }
}

const checkNames = ({ unknown }: Settings): Verdict =>
  unknown.length === 0 ? ok('all are valid') : advice(`${unknown.join(', ')}: unknown setting, ignored`)

/** Returns the folder itself or, if it does not exist yet, its closest existing ancestor. */
const nearestExisting = (path: string): string => (existsSync(path) ? path : nearestExisting(dirname(path)))

const checkDirectory = ({ dataDirectory }: Settings): Verdict => {
  const existing = nearestExisting(dataDirectory)
  if (!statSync(existing).isDirectory())
    return mend(`${existing} is a file, not a folder: set DATABASE_URL to another location.`)
  try {
    accessSync(existing, constants.W_OK | constants.X_OK)
  } catch {
    return mend(
      `${existing} is not writable by this user: fix its permissions, or set DATABASE_URL to a file elsewhere.`,
    )
  }
  return ok(
    existing === dataDirectory ? `${dataDirectory} is writable` : `${dataDirectory} will be created at the first start`,
  )
}

const checkDatabase = async ({ database }: Settings): Promise<Verdict> => {
  const name = database.kind === 'sqlite' ? `SQLite at ${database.file}` : 'PostgreSQL'
  if (database.kind === 'sqlite' && !existsSync(database.file)) return ok(`${name}, will be created at the first start`)
  const { applied, pending, refusal } = await migrationState(database, MIGRATIONS_DIRECTORY)
  if (refusal !== undefined) return mend(`${name}: ${refusal.message}`)
  return pending.length === 0
    ? ok(`${name}, ${applied.length} migrations applied`)
    : advice(`${name}, ${pending.length} pending migrations: the next start applies them, or run npx patchbay migrate`)
}

/** Returns whether the database has the tables of this version, so that it can be queried. */
const isUpToDate = async ({ database }: Settings): Promise<boolean> => {
  const { pending, refusal } = await migrationState(database, MIGRATIONS_DIRECTORY)
  return pending.length === 0 && refusal === undefined
}

const checkKeys = async (settings: Settings): Promise<Verdict> => {
  const { masterKeys, dataDirectory } = settings
  const keys = findMasterKeys(masterKeys, dataDirectory)
  const sealing = keys && createSealing(keys)
  const held = sealing
    ? `key ${sealing.keyIds.join(', ')}`
    : `${masterKeyFile(dataDirectory)} will be created at the first start`
  if (!(await isUpToDate(settings))) return ok(held)
  const db = await openDatabase(settings.database)
  try {
    if (sealing) await checkMasterKeys(db, sealing, await listKeyIdsInUse(db))
    else await assertUnsealed(db, dataDirectory)
    return ok(sealing ? `${held} matches the sealed values` : held)
  } finally {
    await db.close()
  }
}

const checkBaseUrl = (settings: Settings): Verdict => {
  const warning = adviseOnBaseUrl(settings)
  return warning === undefined ? ok(settings.baseUrl) : advice(warning)
}

/** Shows what the running process knows and this one cannot find out, such as failed writes. */
const checkRunning = async (settings: Settings): Promise<Verdict> => {
  const running = await askRunningServer(settings)
  if (running === undefined) return ok('not running on this machine')
  const { address, status, problems, advice: hints } = running
  if (problems.length > 0) return mend([`The server at ${address} is ${status}.`, ...problems, ...hints].join(' '))
  if (hints.length > 0) return advice(hints.join(' '))
  return ok(status === 'stopping' ? `Patchbay at ${address} is stopping` : `Patchbay at ${address} is ready`)
}

const examine = async (): Promise<{ findings: Finding[]; settings: readonly SettingOrigin[] }> => {
  try {
    const settings = loadSettings()
    const findings = [
      await finding('settings', () => checkNames(settings)),
      await finding('data folder', () => checkDirectory(settings)),
      await finding('database', () => checkDatabase(settings)),
      await finding('master key', () => checkKeys(settings)),
      await finding('base URL', () => checkBaseUrl(settings)),
      await finding('running server', () => checkRunning(settings)),
    ]
    return { findings, settings: settings.origins }
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error
    return { findings: error.lines.map(line => ({ check: 'settings', ...mend(line) })), settings: [] }
  }
}

/** Returns a line per detail. Checks that fail for the same reason, such as a stopped database, share one. */
const linesOf = (findings: readonly Finding[], wanted: State): string[] => {
  const byDetail = Map.groupBy(
    findings.filter(({ state }) => state === wanted),
    ({ detail }) => detail,
  )
  return [...byDetail].map(([detail, alike]) => `- ${alike.map(({ check }) => check).join(', ')}: ${detail}`)
}

/** Returns the verdict with the problems and suggestions that it counts. */
const verdictLines = (findings: readonly Finding[]): string[] => {
  const problems = linesOf(findings, 'mend')
  const suggestions = linesOf(findings, 'advice')
  const suggested = formatCount(suggestions.length, 'suggestion')
  if (problems.length > 0) {
    const rest = suggestions.length > 0 ? [`${suggested}:`, ...suggestions] : []
    return [`${formatCount(problems.length, 'problem')}:`, ...problems, ...rest]
  }
  return suggestions.length > 0 ? [`Ready, with ${suggested}:`, ...suggestions] : ['Ready.']
}

const settingLine = ({ name, value, from }: SettingOrigin): string => `${name}=${value} (${from})`

/** Returns what `--all` adds: the checks that found nothing, and every setting. */
const wholeLines = (findings: readonly Finding[], settings: readonly SettingOrigin[]): string[] => {
  const passed = linesOf(findings, 'ok')
  return [
    ...(passed.length > 0 ? ['', 'Checks that passed:', ...passed] : []),
    ...(settings.length > 0 ? ['', 'All settings:', ...settings.map(settingLine)] : []),
  ]
}

const shortLines = (settings: readonly SettingOrigin[]): string[] => {
  if (settings.length === 0) return []
  const changed = settings.filter(({ isDefault }) => !isDefault)
  const shown =
    changed.length > 0
      ? ['Settings that differ from the default:', ...changed.map(settingLine)]
      : ['Every setting has its default.']
  return ['', ...shown, '', 'All checks and settings: npx patchbay doctor --all']
}

const runDoctor = async (options: { json?: boolean; all?: boolean }): Promise<void> => {
  const { findings, settings } = await examine()
  const isHealthy = findings.every(({ state }) => state !== 'mend')
  print(options, { ok: isHealthy, findings, settings }, [
    ...verdictLines(findings),
    ...(options.all ? wholeLines(findings, settings) : shortLines(settings)),
  ])
  if (!isHealthy) process.exitCode = 1
}

export const doctorCommand = (): Command =>
  new Command('doctor')
    .option('--all', 'also print the checks that found nothing, and every setting')
    .option('--json', 'print one JSON value, with every check and setting')
    .action(runDoctor)
