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
import type { Sealing } from '../../lib/process/sealing.ts'
import { checkDefinition } from '../../tools/tool-definition.ts'
import { assertGlobalMayChange } from '../../upstreams/global-uses.ts'
import { explainSecretAtRisk, findSecretAtRisk, GLOBAL_KEY } from '../bindings/bindings.ts'
import type { Global, Server } from '../server.ts'
import { auditGlobal } from '../server-audit.ts'
import { getServerFor, type ServerServiceParts } from '../servers.service.ts'
import { listAllInstances } from '../tools/instances.store.ts'
import * as store from './globals.store.ts'

/** What a sealed global is bound to: another row's or another name's ciphertext does not open. */
export const globalSealContext = (serverId: string, key: string) => ({
  purpose: 'server-global',
  ownerId: serverId,
  name: key,
})

const assertKey = (key: string): void => {
  if (GLOBAL_KEY.test(key)) return
  throw new AppError(
    'invalid_request',
    'A key is a letter or _, then letters, digits, _ . or -, 64 characters at most.',
    {
      errors: [
        {
          path: 'key',
          message:
            'is no name for a global: it begins with a letter or _, and goes on with those, digits, dots and hyphens',
        },
      ],
    },
  )
}

const assertValue = (value: string, isSecret: boolean): void => {
  const refuse = (message: string, detail: string) =>
    new AppError('invalid_request', message, { errors: [{ path: 'value', message: detail }] })
  if (isSecret && value === '') throw refuse('A secret cannot be empty.', 'is empty')
  const maxBytes = isSecret ? MAX_SECRET_BYTES : MAX_GLOBAL_BYTES
  if (Buffer.byteLength(value) <= maxBytes) return
  const what = isSecret ? 'A secret' : 'A global'
  throw refuse(`${what} holds at most ${maxBytes} bytes.`, `is longer than ${maxBytes} bytes`)
}

const assertRoom = async (tx: Transaction, serverId: string): Promise<void> => {
  if ((await store.countGlobals(tx, serverId)) < MAX_GLOBALS_PER_SERVER) return
  throw new AppError('limit_exceeded', `A server holds at most ${MAX_GLOBALS_PER_SERVER} globals.`)
}

/** After the secret is written, which undoes it. Where they held more `before`, they may hold as much. */
const assertSecretsFit = async (tx: Transaction, serverId: string, before: number): Promise<void> => {
  if ((await store.countSecretBytes(tx, serverId)) <= Math.max(MAX_SECRETS_BYTES, before)) return
  const message = `The secrets of a server hold at most ${MAX_SECRETS_BYTES} bytes together, as they are sealed: shorten one, or remove one that no tool uses.`
  throw new AppError('limit_exceeded', message)
}

/** Refuses to make a secret of what instances already send wherever their callers like. */
const assertMayBeSecret = async (tx: Transaction, serverId: string, key: string): Promise<void> => {
  const secretKeys = new Set((await store.listGlobals(tx, serverId)).flatMap(g => (g.isSecret ? g.key : [])))
  secretKeys.add(key)
  for (const { name, tool, bindings } of await listAllInstances(tx, serverId)) {
    const compiled = checkDefinition(tool)
    const risk = compiled.ok && findSecretAtRisk(compiled.value, tool, bindings, bound => secretKeys.has(bound))
    if (risk) throw new AppError('invalid_request', `In the tool "${name}": ${explainSecretAtRisk(risk)}`)
  }
}

export type GlobalInput = { value: string; secret?: boolean | undefined }

/**
 * Sets a global inside a transaction of the caller's, who may build in the server and announces it. A secret stays a
 * secret until it is said to be none. `isNew` tells a creation from a replacement.
 */
const setGlobal = async (
  tx: Transaction,
  { actor, server, sealing }: { actor: Actor; server: Server; sealing: Sealing },
  key: string,
  input: GlobalInput,
): Promise<{ global: Global; isNew: boolean }> => {
  assertKey(key)
  const existing = await store.findGlobal(tx, server.id, key)
  const isSecret = input.secret ?? existing?.isSecret ?? false
  assertValue(input.value, isSecret)
  await assertGlobalMayChange(tx, actor, { serverId: server.id, key, isSecret })
  if (existing === undefined) await assertRoom(tx, server.id)
  if (isSecret && existing?.isSecret !== true) await assertMayBeSecret(tx, server.id, key)
  const content = isSecret
    ? { isSecret, sealed: sealing.seal(input.value, globalSealContext(server.id, key)) }
    : { isSecret, value: input.value }
  const secretBytes = isSecret ? await store.countSecretBytes(tx, server.id) : 0
  const global = await store.putGlobal(tx, server.id, key, content)
  if (isSecret) await assertSecretsFit(tx, server.id, secretBytes)
  await auditGlobal(tx, actor, server, { key, from: existing?.isSecret, to: isSecret })
  return { global, isNew: existing === undefined }
}

/** As `setGlobal`, for one that must be new: throws `conflict` where the key is taken. */
export const addGlobal = async (
  tx: Transaction,
  by: { actor: Actor; server: Server; sealing: Sealing },
  key: string,
  input: GlobalInput,
): Promise<Global> => {
  if ((await store.findGlobal(tx, by.server.id, key)) === undefined) return (await setGlobal(tx, by, key, input)).global
  throw new AppError('conflict', `This server has a global "${key}" already.`, {
    errors: [{ path: 'key', message: 'is taken in this server' }],
  })
}

const noGlobal = () => new AppError('not_found', 'This server has no such global.')

export const createGlobalService = ({ db, changes, sealing }: ServerServiceParts & { sealing: Sealing }) => ({
  listGlobals: async (actor: Actor, serverId: string, page: IdPage): Promise<Global[]> => {
    await getServerFor(db, actor, serverId, 'read')
    return store.listGlobalPage(db, serverId, page)
  },

  /** All of them, by key. */
  listAllGlobals: async (actor: Actor, serverId: string): Promise<Global[]> => {
    await getServerFor(db, actor, serverId, 'read')
    return store.listGlobals(db, serverId)
  },

  getGlobal: async (actor: Actor, serverId: string, key: string): Promise<Global> => {
    await getServerFor(db, actor, serverId, 'read')
    const global = await store.findGlobal(db, serverId, key)
    if (global === undefined) throw noGlobal()
    return global
  },

  putGlobal: (
    actor: Actor,
    serverId: string,
    key: string,
    input: GlobalInput,
  ): Promise<{ global: Global; isNew: boolean }> => {
    assertKey(key)
    return changes.commit(async (tx, announce) => {
      const server = await getServerFor(tx, actor, serverId, 'build')
      const done = await setGlobal(tx, { actor, server, sealing }, key, input)
      announce({ type: 'server_changed', serverId })
      return done
    })
  },

  /** Throws `conflict` where there is one of that key already. */
  createGlobal: (actor: Actor, serverId: string, key: string, input: GlobalInput): Promise<Global> =>
    changes.commit(async (tx, announce) => {
      const server = await getServerFor(tx, actor, serverId, 'build')
      const global = await addGlobal(tx, { actor, server, sealing }, key, input)
      announce({ type: 'server_changed', serverId })
      return global
    }),

  removeGlobal: (actor: Actor, serverId: string, key: string): Promise<void> =>
    changes.commit(async (tx, announce) => {
      const server = await getServerFor(tx, actor, serverId, 'build')
      const existing = await store.findGlobal(tx, serverId, key)
      if (existing === undefined) throw noGlobal()
      await assertGlobalMayChange(tx, actor, { serverId, key, isSecret: undefined })
      await store.removeGlobal(tx, serverId, key)
      await auditGlobal(tx, actor, server, { key, from: existing.isSecret, to: undefined })
      announce({ type: 'server_changed', serverId })
    }),
})

export type GlobalService = ReturnType<typeof createGlobalService>
