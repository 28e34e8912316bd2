import { isDeepStrictEqual } from 'node:util'
import type { Transaction } from '../../lib/db/client.ts'
import type { IdPage } from '../../lib/http/id-paging.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import {
  MAX_GLOBAL_BYTES,
  MAX_GLOBALS_PER_SERVER,
  MAX_SECRET_BYTES,
  MAX_SECRETS_BYTES,
} from '../../lib/kernel/limits.ts'
import { orThrow } from '../../lib/kernel/missing.ts'
import { GLOBAL_KEY } from '../../lib/kernel/names.ts'
import { isNarrowPattern } from '../../lib/outbound/credentials.ts'
import type { Sealing } from '../../lib/process/sealing.ts'
import { mapInTurns } from '../../lib/worker/pause.ts'
import { checkDefinition } from '../../tools/tool-definition.ts'
import { assertGlobalMayChange } from '../../upstreams/global-uses.ts'
import { findBindingFaults } from '../bindings/binding-checks.ts'
import { listInstancesReading } from '../bindings/bindings.store.ts'
import { globalKeysOf } from '../bindings/bindings.ts'
import { forgetBoundOrigins, MAX_ORIGINS } from '../origins/bound-origins.store.ts'
import { mayChangeOrigins, originsByOf } from '../origins/origin-rights.ts'
import { findBoundOrigins, listCurrentOrigins } from '../origins/secret-origins.ts'
import type { Binding, Global, Server } from '../server.ts'
import { auditGlobal, auditOrigins } from '../server-audit.ts'
import { getServerFor, type ServerServiceParts } from '../servers.service.ts'
import * as store from './globals.store.ts'

const invalid = (path: 'key' | 'value' | 'origins', message: string, detail: string): AppError =>
  new AppError('invalid_request', message, { errors: [{ path, message: detail }] })

const assertKey = (key: string): void => {
  if (GLOBAL_KEY.test(key)) return
  throw invalid(
    'key',
    'A key starts with a letter or _, contains only letters, digits, _ . and -, and has at most 64 characters.',
    'must start with a letter or _ and contain only letters, digits, _ . and -',
  )
}

const assertValue = (value: string, isSecret: boolean): void => {
  if (isSecret && value === '') throw invalid('value', 'A secret cannot be empty.', 'must not be empty')
  const maxBytes = isSecret ? MAX_SECRET_BYTES : MAX_GLOBAL_BYTES
  if (Buffer.byteLength(value) <= maxBytes) return
  const what = isSecret ? 'A secret' : 'A global'
  throw invalid('value', `${what} can have at most ${maxBytes} bytes.`, `is longer than ${maxBytes} bytes`)
}

const assertRoom = async (tx: Transaction, serverId: string): Promise<void> => {
  if ((await store.countGlobals(tx, serverId)) < MAX_GLOBALS_PER_SERVER) return
  throw new AppError('limit_exceeded', `A server can have at most ${MAX_GLOBALS_PER_SERVER} globals.`)
}

/**
 * Throws if the server's secrets are too large. Runs after the secret is written, so that an error rolls the write
 * back. Accepts a total above the limit if it is not higher than `before`.
 */
const assertSecretsFit = async (tx: Transaction, serverId: string, before: number): Promise<void> => {
  if ((await store.countSecretBytes(tx, serverId)) <= Math.max(MAX_SECRETS_BYTES, before)) return
  const message = `The encrypted secrets of a server can have at most ${MAX_SECRETS_BYTES} bytes in total. Shorten a secret, or remove one that no tool uses.`
  throw new AppError('limit_exceeded', message)
}

/** Throws if instances use this global where a secret must not be, or send it to origins that their callers choose. */
const assertMayBeSecret = async (tx: Transaction, serverId: string, key: string): Promise<void> => {
  const secretKeys = new Set(await store.listSecretKeys(tx, serverId)).add(key)
  await mapInTurns(await listInstancesReading(tx, serverId, new Set([key])), ({ name, tool, bindings }) => {
    const compiled = checkDefinition(tool)
    if (!compiled.ok) return
    const readsKey = ([parameter, binding]: [string, Binding]): boolean => globalKeysOf(parameter, binding).has(key)
    const changed = Object.fromEntries(Object.entries(bindings).filter(readsKey))
    const isSecret = (bound: string): boolean => secretKeys.has(bound)
    const [fault] = findBindingFaults(compiled.value, { tool, bindings }, { isSecret, changed })
    if (fault === undefined) return
    const { isSecretAtRisk, parameter, message } = fault
    const what = isSecretAtRisk ? message : `the value bound to "${parameter}" ${message}.`
    throw new AppError('invalid_request', `In the tool "${name}": ${what}`)
  })
}

export type GlobalInput = {
  /** May be left out if only the origins of a secret change. */
  value?: string | undefined
  secret?: boolean | undefined
  /** Where a secret may be sent. Null means that the next binding decides. If undefined, the origins stay. */
  origins?: readonly string[] | null | undefined
}

type By = {
  actor: Actor
  server: Server
  sealing: Sealing
  /** The origins to which the key is bound. Read in the transaction if undefined. */
  currentOrigins?: readonly string[] | undefined
}

const assertOriginCount = (origins: readonly string[]): void => {
  if (origins.length <= MAX_ORIGINS) return
  throw new AppError('limit_exceeded', `A secret can have at most ${MAX_ORIGINS} origins.`)
}

/** Throws if a pattern is too wide to be chosen. Those that a binding has set can be sent back. */
const assertNarrow = (origins: readonly string[], existing: Global | undefined): void => {
  const stored = existing?.isSecret ? existing.origins : undefined
  const index = origins.findIndex(one => !isNarrowPattern(one) && stored?.includes(one) !== true)
  if (index === -1) return
  const detail = 'must have one * at most, and spell out the last two names of the host'
  throw new AppError('invalid_request', `The origin ${origins[index]} ${detail}.`, {
    errors: [{ path: `origins[${index}]`, message: detail }],
  })
}

const chosenOrigins = (
  { actor, server }: By,
  wanted: readonly string[] | null,
  existing?: Global | undefined,
): store.SetOrigins => {
  if (wanted === null) return { origins: undefined, originsBy: 'nobody' }
  const origins = [...new Set(wanted)]
  assertOriginCount(origins)
  const isUnchanged = existing?.isSecret && isDeepStrictEqual(existing.origins, origins)
  return isUnchanged && existing.originsBy === 'manager' ? existing : { origins, originsBy: originsByOf(actor, server) }
}

/** Returns the origins of a secret whose value is stored without naming any. */
const originsOfValue = async (
  tx: Transaction,
  by: By,
  key: string,
  existing: Global | undefined,
): Promise<store.SetOrigins> => {
  const isOthers = existing?.isSecret && existing.originsBy === 'storer' && existing.storedBy !== by.actor.userId
  // Origins that another builder chose for their own value must not receive this one.
  if (existing?.isSecret && !isOthers && existing.originsBy !== 'nobody') return existing
  const current = by.currentOrigins ?? (await listCurrentOrigins(tx, by.server.id, key, by.sealing))
  const origins = await findBoundOrigins(tx, by, key, current)
  return origins.length > 0 ? chosenOrigins(by, origins) : { origins: undefined, originsBy: 'nobody' }
}

const auditOriginsOf = (tx: Transaction, { actor, server }: By, before: Global | undefined, after: Global) =>
  auditOrigins(tx, actor, server, {
    key: after.key,
    from: before?.isSecret ? before.origins : undefined,
    to: after.isSecret ? after.origins : undefined,
  })

/** Changes only the origins of a secret. Its value stays unknown to the actor, so this needs more than building. */
const changeOrigins = async (
  tx: Transaction,
  by: By,
  secret: Global & { isSecret: true },
  origins: readonly string[] | null,
): Promise<Global> => {
  if (!mayChangeOrigins(by.actor, by.server, secret)) {
    const message = `Only an admin, or whoever stored the secret "${secret.key}", can change its origins.`
    throw new AppError('forbidden', message)
  }
  const after = await store.setOrigins(tx, secret.id, chosenOrigins(by, origins))
  await auditOriginsOf(tx, by, secret, after)
  return after
}

/**
 * Sets a global in the caller's transaction. The caller checks permissions and announces the change. A secret remains a
 * secret unless `secret` is false.
 */
const putGlobalIn = async (
  tx: Transaction,
  by: By,
  key: string,
  { value, secret, origins }: GlobalInput,
): Promise<{ global: Global; isNew: boolean }> => {
  const { actor, server, sealing } = by
  assertKey(key)
  const existing = await store.findGlobal(tx, server.id, key)
  const isSecret = secret ?? existing?.isSecret ?? false
  if (origins !== undefined && origins !== null && !isSecret) {
    throw invalid('origins', 'Only a secret has origins.', 'are only for secrets')
  }
  assertNarrow(origins ?? [], existing)
  if (value === undefined) {
    if (!existing?.isSecret || !isSecret || origins === undefined)
      throw invalid('value', 'Enter a value.', 'is required')
    return { global: await changeOrigins(tx, by, existing, origins), isNew: false }
  }
  assertValue(value, isSecret)
  await assertGlobalMayChange(tx, actor, { serverId: server.id, key, isSecret })
  if (existing === undefined) await assertRoom(tx, server.id)
  if (isSecret && existing?.isSecret !== true) await assertMayBeSecret(tx, server.id, key)
  const secretBytes = isSecret ? await store.countSecretBytes(tx, server.id) : 0
  const chosen =
    !isSecret || origins !== undefined
      ? chosenOrigins(by, origins ?? null, existing)
      : await originsOfValue(tx, by, key, existing)
  const global = await store.putGlobal(tx, sealing, server.id, key, {
    value,
    isSecret,
    storedBy: actor.userId,
    origins: chosen.origins,
    originsBy: chosen.originsBy,
  })
  if (isSecret) {
    await assertSecretsFit(tx, server.id, secretBytes)
    await forgetBoundOrigins(tx, server.id, key)
  }
  await auditGlobal(tx, actor, server, { key, from: existing?.isSecret, to: isSecret })
  await auditOriginsOf(tx, by, existing, global)
  return { global, isNew: existing === undefined }
}

/** Same as `putGlobalIn`, but throws `conflict` if the key already exists. */
export const createGlobalIn = async (tx: Transaction, by: By, key: string, input: GlobalInput): Promise<Global> => {
  if ((await store.findGlobal(tx, by.server.id, key)) === undefined)
    return (await putGlobalIn(tx, by, key, input)).global
  throw new AppError('conflict', `This server already has a global "${key}".`, {
    errors: [{ path: 'key', message: 'is already used in this server' }],
  })
}

const globalNotFound = () => new AppError('not_found', 'Global not found on this server.')

export const createGlobalService = ({ db, changes, sealing }: ServerServiceParts & { sealing: Sealing }) => {
  /** Compiles the tools that use a secret to be stored before the transaction, which blocks other changes. */
  const readCurrentOrigins = async (
    actor: Actor,
    serverId: string,
    key: string,
    { value, secret, origins }: GlobalInput,
  ): Promise<string[] | undefined> => {
    if (value === undefined || origins !== undefined) return undefined
    await getServerFor(db, actor, serverId, 'build')
    const isSecret = secret ?? (await store.findGlobal(db, serverId, key))?.isSecret ?? false
    return isSecret ? listCurrentOrigins(db, serverId, key, sealing) : undefined
  }

  return {
    listGlobals: async (actor: Actor, serverId: string, page: IdPage): Promise<Global[]> => {
      await getServerFor(db, actor, serverId, 'read')
      return store.listGlobalPage(db, serverId, page)
    },

    listAllGlobals: async (actor: Actor, serverId: string): Promise<Global[]> => {
      await getServerFor(db, actor, serverId, 'read')
      return store.listGlobals(db, serverId)
    },

    getGlobal: async (actor: Actor, serverId: string, key: string): Promise<Global> => {
      await getServerFor(db, actor, serverId, 'read')
      return orThrow(await store.findGlobal(db, serverId, key), globalNotFound)
    },

    /** Returns the origins that a new secret with this key would get if the actor stored it without any. */
    listSuggestedOrigins: async (actor: Actor, serverId: string, key: string): Promise<string[]> => {
      if (key === '') return []
      const server = await getServerFor(db, actor, serverId, 'build')
      return findBoundOrigins(db, { actor, server }, key, await listCurrentOrigins(db, serverId, key, sealing))
    },

    putGlobal: async (
      actor: Actor,
      serverId: string,
      key: string,
      input: GlobalInput,
    ): Promise<{ global: Global; isNew: boolean }> => {
      const currentOrigins = await readCurrentOrigins(actor, serverId, key, input)
      return changes.commit(async (tx, announce) => {
        const server = await getServerFor(tx, actor, serverId, 'build')
        const done = await putGlobalIn(tx, { actor, server, sealing, currentOrigins }, key, input)
        announce({ type: 'server_changed', serverId })
        return done
      })
    },

    /** Creates a global. Throws `conflict` if the key already exists. */
    createGlobal: async (actor: Actor, serverId: string, key: string, input: GlobalInput): Promise<Global> => {
      const currentOrigins = await readCurrentOrigins(actor, serverId, key, input)
      return changes.commit(async (tx, announce) => {
        const server = await getServerFor(tx, actor, serverId, 'build')
        const global = await createGlobalIn(tx, { actor, server, sealing, currentOrigins }, key, input)
        announce({ type: 'server_changed', serverId })
        return global
      })
    },

    removeGlobal: (actor: Actor, serverId: string, key: string): Promise<void> =>
      changes.commit(async (tx, announce) => {
        const server = await getServerFor(tx, actor, serverId, 'build')
        const existing = orThrow(await store.findGlobal(tx, serverId, key), globalNotFound)
        await assertGlobalMayChange(tx, actor, { serverId, key, isSecret: undefined })
        await store.removeGlobal(tx, serverId, key)
        await auditGlobal(tx, actor, server, { key, from: existing.isSecret, to: undefined })
        announce({ type: 'server_changed', serverId })
      }),
  }
}

export type GlobalService = ReturnType<typeof createGlobalService>
