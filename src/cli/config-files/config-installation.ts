import { createHash, randomBytes } from 'node:crypto'
import { basename, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type ConfigFile, readConfigFile } from '../config-files/index.ts'
import { type Actor, AppError, failure, type Result, success } from '../kernel/index.ts'
import type { Logger } from '../platform/logger.ts'
import { generateMasterKey } from '../platform/sealing.ts'
import { loadSettingsWith, type Settings } from '../platform/settings.ts'
import { buildServices, type Services } from '../services.ts'
import { createConfigSync, type SyncOutcome } from './config-sync.ts'
import { thisMachine } from './machine.ts'
import { makeTemporaryFolder } from './temporary-folder.ts'
import { watchForChanges } from './watch-file.ts'

const OWNER = 'config-file@patchbay.internal'
const HOST = '127.0.0.1'

/** The same for a file whenever it is served, so that clients keep the address: a UUID of version 8 (RFC 9562 §5.8). */
const serverIdOf = (path: string): string => {
  const bytes = createHash('sha256').update(path).digest().subarray(0, 16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Settings of an installation that is there for one file: on loopback, with nobody to sign in. */
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

/** An account that nobody can sign in with: its password is known to nobody. */
const makeOwner = async ({ accounts }: Services): Promise<Actor> => {
  const password = randomBytes(24).toString('base64url')
  const { id } = await accounts.createUser({ email: OWNER, password, isOperator: true })
  const actor = await accounts.findActorByUserId(id)
  if (actor === undefined) throw new AppError('internal', 'The account of the file is gone.')
  return actor
}

/** The file, or why it cannot be served, which completes "The file". One that was just emptied is about to be written. */
const readServed = async (path: string): Promise<Result<ConfigFile, string>> => {
  const file = await readConfigFile(path, thisMachine())
  if (!file.ok) return failure(file.error.message)
  return file.value.hasServers ? success(file.value) : failure('names no servers')
}

const readOrThrow = async (path: string): Promise<ConfigFile> => {
  const file = await readServed(path)
  if (file.ok) return file.value
  throw new AppError('invalid_request', `The file ${path} ${file.error}.`)
}

export type ConfigInstallation = {
  settings: Settings
  services: Services
  serverId: string
  /** What became of the file at the start. */
  first: SyncOutcome
  /** What the file says besides its servers. */
  notes: readonly string[]
  /** Keeps to the file from now on, until it is closed. */
  follow: () => void
  /** To be called once the services are closed. */
  remove: () => Promise<void>
}

/** Tells the operator of a file that was read again; of what is not taken only what is new. */
const report = (logger: Logger, path: string, before: SyncOutcome, now: SyncOutcome): void => {
  const { added, changed, removed, skipped } = now
  const isDifferent = added.length + changed.length + removed.length > 0
  if (isDifferent) logger.info({ path, added, changed, removed }, 'the configuration file was read again')
  const known = new Set(before.skipped.map(each => JSON.stringify(each)))
  for (const each of skipped.filter(({ name, why }) => !known.has(JSON.stringify({ name, why })))) {
    logger.warn({ path, ...each }, 'a server of the file is not taken')
  }
}

/**
 * An installation for one configuration file, gone when it ends: one public server, which holds what the file names.
 * Throws what keeps the file from being read.
 */
export const openConfigInstallation = async (given: string, logger: Logger): Promise<ConfigInstallation> => {
  const path = resolve(given)
  const file = await readOrThrow(path)
  const { folder, remove } = await makeTemporaryFolder()
  try {
    const settings = settingsIn(folder)
    const services = await buildServices(settings, logger, { upstreamPolicy: () => success(undefined) })
    try {
      const actor = await makeOwner(services)
      const server = await services.servers.createServer(actor, {
        id: serverIdOf(pathToFileURL(path).href),
        name: basename(path),
        description: `The MCP servers that ${basename(path)} names.`,
        access: 'public',
        presentation: 'flat',
        allowedUsers: [],
      })
      const sync = createConfigSync({ services, actor, serverId: server.id })
      const first = await sync(file)

      let latest = first
      let stopWatching = (): void => {}
      let turn: Promise<void> = Promise.resolve()
      const reload = async (): Promise<void> => {
        const read = await readServed(path)
        if (!read.ok) {
          logger.warn({ path }, `The file ${read.error}: what it said before is served on`)
          return
        }
        const before = latest
        latest = await sync(read.value)
        report(logger, path, before, latest)
      }
      const reloadInTurn = (): void => {
        turn = turn
          .then(reload)
          .catch(error => logger.error({ err: error, path }, 'the configuration file could not be taken over'))
      }
      return {
        settings,
        services: {
          ...services,
          close: async () => {
            stopWatching()
            await turn
            await services.close()
          },
        },
        serverId: server.id,
        first,
        notes: file.notes,
        follow: () => {
          stopWatching = watchForChanges(path, reloadInTurn)
          // What changed while all was made ready.
          reloadInTurn()
        },
        remove,
      }
    } catch (error) {
      await services.close()
      throw error
    }
  } catch (error) {
    await remove()
    throw error
  }
}
