import { createHash, randomBytes } from 'node:crypto'
import { unwatchFile, watch, watchFile } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import { orThrow } from '../../lib/kernel/missing.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import { createLifecycle } from '../../lib/process/lifecycle.ts'
import type { Logger } from '../../lib/process/logger.ts'
import { generateMasterKey } from '../../lib/process/sealing.ts'
import { loadSettingsWith, type Settings } from '../../lib/process/settings.ts'
import { buildServices, type Services } from '../../services.ts'
import { thisMachine } from '../machine.ts'
import { makeTemporaryFolder } from '../temporary-folder.ts'
import { createConfigSync, type SyncOutcome } from './config-sync.ts'
import { type ConfigFile, readConfigFile } from './read-config-file.ts'

/** Editors write a file in several steps, and some replace it. */
const SETTLE_MS = 50
/** Polling interval, for changes that folder events miss: a link to a file elsewhere, or a network file system. */
const POLL_INTERVAL_MS = 1_000

/**
 * Calls `onChange` shortly after a file was changed, replaced, deleted or created. Returns a function that stops
 * watching.
 */
const watchForChanges = (path: string, onChange: () => void): (() => void) => {
  let waiting: NodeJS.Timeout | undefined
  const notice = (): void => {
    clearTimeout(waiting)
    waiting = setTimeout(onChange, SETTLE_MS)
  }
  const folder = watch(dirname(path), { persistent: false }, (_event, name) => {
    if (name === null || name === basename(path)) notice()
  })
  // If the folder is deleted, only polling continues.
  folder.on('error', () => folder.close())
  watchFile(path, { interval: POLL_INTERVAL_MS, persistent: false }, notice)
  return () => {
    clearTimeout(waiting)
    folder.close()
    unwatchFile(path, notice)
  }
}

const OWNER = 'config-file@patchbay.internal'
const HOST = '127.0.0.1'

/**
 * Derives a server id from the file's path, so that the server's URL stays the same for clients. The id is a version 8
 * UUID (RFC 9562 §5.8).
 */
const serverIdOf = (path: string): string => {
  const bytes = createHash('sha256').update(path).digest().subarray(0, 16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Returns the settings of a temporary installation that serves one file on loopback, without sign-in. */
const settingsIn = (folder: string): Settings => {
  const { port } = loadSettingsWith({})
  return loadSettingsWith({
    NODE_ENV: 'development',
    PATCHBAY_HOST: HOST,
    PATCHBAY_BASE_URL: `http://${HOST}:${port}`,
    DATABASE_URL: `file:${join(folder, 'patchbay.db')}`,
    PATCHBAY_MASTER_KEY: generateMasterKey(),
    PATCHBAY_ALLOW_STDIO: 'true',
    PATCHBAY_SIGNUP: 'closed',
    PATCHBAY_TENANCY: 'multi',
  })
}

/** Creates an account that nobody can sign in to: its random password is discarded. */
const makeOwner = async ({ accounts }: Services): Promise<Actor> => {
  const password = randomBytes(24).toString('base64url')
  const { id } = await accounts.createUser({ email: OWNER, password, isOperator: true })
  return orThrow(
    await accounts.findActorByUserId(id),
    () => new AppError('internal', 'The account for the file does not exist.'),
  )
}

/**
 * Reads the file. The error completes "The file …". A file without servers is an error, because an editor may be in the
 * middle of saving it.
 */
const readServed = async (path: string): Promise<Result<ConfigFile, string>> => {
  const file = await readConfigFile(path, thisMachine())
  return file.ok && !file.value.hasServers ? failure('contains no servers') : file
}

/** Logs the outcome of a reload. Of the skipped servers, logs only the new ones. */
const report = (logger: Logger, path: string, before: SyncOutcome, now: SyncOutcome): void => {
  const { added, changed, removed, skipped } = now
  const isDifferent = added.length + changed.length + removed.length > 0
  if (isDifferent) logger.info({ path, added, changed, removed }, 'reloaded the configuration file')
  const known = new Set(before.skipped.map(each => JSON.stringify(each)))
  for (const each of skipped.filter(({ name, why }) => !known.has(JSON.stringify({ name, why })))) {
    logger.warn({ path, ...each }, 'skipped a server in the configuration file')
  }
}

/**
 * Opens a temporary installation for one configuration file, with one public server that has all the MCP servers in the
 * file. Closing the services also deletes the installation's folder. Throws if the file cannot be read.
 */
export const openConfigInstallation = async (given: string, logger: Logger) => {
  const path = resolve(given)
  const file = await readServed(path)
  if (!file.ok) throw new AppError('invalid_request', `The file ${path} ${file.error}.`)
  const { onClose, close } = createLifecycle()
  try {
    const { folder, remove } = await makeTemporaryFolder()
    onClose(remove)
    const settings = settingsIn(folder)
    const services = await buildServices(settings, logger, { upstreamPolicy: () => success(undefined) })
    onClose(services.close)
    const actor = await makeOwner(services)
    const server = await services.servers.createServer(actor, {
      id: serverIdOf(pathToFileURL(path).href),
      name: basename(path),
      description: `The MCP servers in ${basename(path)}.`,
      access: 'public',
      presentation: 'flat',
      allowedUsers: [],
    })
    const sync = createConfigSync({ services, actor, serverId: server.id })
    const first = await sync(file.value)

    let latest = first
    let turn: Promise<void> = Promise.resolve()
    const reload = async (): Promise<void> => {
      const read = await readServed(path)
      if (!read.ok) {
        logger.warn({ path }, `The file ${read.error}: the previous configuration stays in use`)
        return
      }
      const before = latest
      latest = await sync(read.value)
      report(logger, path, before, latest)
    }
    const reloadInTurn = (): void => {
      turn = turn
        .then(reload)
        .catch(error => logger.error({ err: error, path }, 'failed to apply the configuration file'))
    }
    return {
      settings,
      services: { ...services, close },
      serverId: server.id,
      first,
      /** Notes about the file as a whole. */
      notes: file.value.notes,
      /** Starts watching the file for changes, until the services are closed. */
      follow: (): void => {
        onClose(() => turn)
        onClose(watchForChanges(path, reloadInTurn))
        // Picks up changes made during start-up.
        reloadInTurn()
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}
