import { type Actor, AppError, MAX_GLOBAL_BYTES, MAX_GLOBALS_PER_SERVER, MAX_SECRET_BYTES } from '../kernel/index.ts'
import type { Transaction } from '../platform/db/index.ts'
import type { IdPage } from '../platform/http/index.ts'
import type { Sealing } from '../platform/sealing.ts'
import { checkDefinition } from '../toolkits/index.ts'
import { explainSecretAtRisk, findSecretAtRisk, GLOBAL_KEY } from './bindings.ts'
import * as store from './globals.store.ts'
import { listAllInstances } from './instances.store.ts'
import type { Global } from './server.ts'
import { auditGlobal } from './server-audit.ts'
import { getServerFor, type ServerServiceParts } from './servers.service.ts'

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
      errors: [{ path: 'key', message: 'is no name for a global' }],
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

export const createGlobalService = ({ db, changes, sealing }: ServerServiceParts & { sealing: Sealing }) => ({
  listGlobals: async (actor: Actor, serverId: string, page: IdPage): Promise<Global[]> => {
    await getServerFor(db, actor, serverId, 'read')
    return store.listGlobalPage(db, serverId, page)
  },

  /** A secret stays a secret until it is said to be none. `isNew` tells a creation from a replacement. */
  putGlobal: (
    actor: Actor,
    serverId: string,
    key: string,
    input: { value: string; secret?: boolean | undefined },
  ): Promise<{ global: Global; isNew: boolean }> => {
    assertKey(key)
    return changes.commit(async (tx, announce) => {
      const server = await getServerFor(tx, actor, serverId, 'build')
      const existing = await store.findGlobal(tx, serverId, key)
      const isSecret = input.secret ?? existing?.isSecret ?? false
      assertValue(input.value, isSecret)
      if (existing === undefined) await assertRoom(tx, serverId)
      if (isSecret && existing?.isSecret !== true) await assertMayBeSecret(tx, serverId, key)
      const content = isSecret
        ? { isSecret, sealed: sealing.seal(input.value, globalSealContext(serverId, key)) }
        : { isSecret, value: input.value }
      const global = await store.putGlobal(tx, serverId, key, content)
      await auditGlobal(tx, actor, server, { key, from: existing?.isSecret, to: isSecret })
      announce({ type: 'server_changed', serverId })
      return { global, isNew: existing === undefined }
    })
  },

  removeGlobal: (actor: Actor, serverId: string, key: string): Promise<void> =>
    changes.commit(async (tx, announce) => {
      const server = await getServerFor(tx, actor, serverId, 'build')
      const existing = await store.findGlobal(tx, serverId, key)
      if (existing === undefined) throw new AppError('not_found', 'This server has no such global.')
      await store.removeGlobal(tx, serverId, key)
      await auditGlobal(tx, actor, server, { key, from: existing.isSecret, to: undefined })
      announce({ type: 'server_changed', serverId })
    }),
})

export type GlobalService = ReturnType<typeof createGlobalService>
