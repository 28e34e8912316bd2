import { isDeepStrictEqual } from 'node:util'
import type { Transaction } from '../../lib/db/client.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { mayRole } from '../../lib/kernel/roles.ts'
import { explainRefusal, isAmongOrigins } from '../../lib/outbound/credentials.ts'
import { SealError, type Sealing } from '../../lib/process/sealing.ts'
import { mapInTurns } from '../../lib/worker/pause.ts'
import { findRole } from '../../tenancy/members.store.ts'
import type { ToolDefinition } from '../../tools/tool.ts'
import { checkDefinition } from '../../tools/tool-definition.ts'
import { compileConfig, keysOfConfig } from '../../upstreams/config/resolve-config.ts'
import type { UpstreamConfig } from '../../upstreams/upstream.ts'
import { listAllUpstreams } from '../../upstreams/upstreams.store.ts'
import { listInstancesReading } from '../bindings/bindings.store.ts'
import type { FindGlobal } from '../bindings/resolve-constant.ts'
import { listGlobals, openGlobal, setOrigins } from '../globals/globals.store.ts'
import type { Bindings, Global, Server } from '../server.ts'
import { auditOrigins } from '../server-audit.ts'
import { getServerFor } from '../servers.service.ts'
import { listBoundOrigins, MAX_ORIGINS, noteBoundOrigins } from './bound-origins.store.ts'
import { mayChooseOrigins, originsByOf } from './origin-rights.ts'
import { type KeyUse, listKeyUses } from './tool-origins.ts'

/** Returns the value of a global. Returns undefined if it is a secret that cannot be decrypted. */
const findValue = (global: Global, sealing: Sealing): string | undefined => {
  try {
    return openGlobal(global, sealing)
  } catch (error) {
    if (error instanceof SealError) return undefined
    throw error
  }
}

/**
 * Returns a lookup of globals that decrypts a secret only when it is asked for. A secret that cannot be decrypted counts
 * as missing.
 */
export const createGlobalLookup = (globals: readonly Global[], sealing: Sealing): FindGlobal => {
  const byKey = new Map(globals.map(global => [global.key, global]))
  return key => {
    const global = byKey.get(key)
    const value = global && findValue(global, sealing)
    return value === undefined ? undefined : { value, isSecret: global?.isSecret === true }
  }
}

export const usesOfInstance = (
  { tool, bindings }: { tool: ToolDefinition; bindings: Bindings },
  find: FindGlobal,
): KeyUse[] => {
  const compiled = checkDefinition(tool)
  return compiled.ok ? listKeyUses(tool, compiled.value, bindings, find) : []
}

/** Returns the keys that an upstream reads. A command has no origin, and is the operator's. */
const usesOfUpstream = (config: UpstreamConfig, find: FindGlobal): KeyUse[] => {
  const compiled = compileConfig(config)
  if (!compiled.ok || config.transport === 'stdio') return []
  const { globals, listOrigins } = compiled.value
  const known = listOrigins(key => find(key)?.value)
  const isUndecided = known.length < 1 + (config.urls?.length ?? 0)
  // Each URL is a use of its own, because the upstream needs all of them.
  const places = [...[...new Set(known)].map(origin => [origin]), ...(isUndecided ? [undefined] : [])]
  return [...globals].flatMap(key => places.map(origins => ({ key, path: 'url', origins, isBaseUrl: false })))
}

/** Replaces URLs that have not changed, so that only the keys of changed headers are read. */
const UNMOVED_URL = 'https://unmoved.invalid/'

/** Returns the keys that the fields of an upstream read, except fields that are the same in `before`. */
const changedKeysOf = (config: UpstreamConfig, before: UpstreamConfig | undefined): ReadonlySet<string> => {
  if (config.transport === 'stdio' || before === undefined || before.transport === 'stdio') {
    return new Set(keysOfConfig(config))
  }
  const isMoved = config.url !== before.url || !isDeepStrictEqual(config.urls ?? [], before.urls ?? [])
  const headers = Object.entries(config.headers).filter(([name, value]) => before.headers[name] !== value)
  const rest = isMoved ? config : { ...config, url: UNMOVED_URL, urls: undefined }
  return new Set(keysOfConfig({ ...rest, headers: Object.fromEntries(headers) }))
}

/** Lists every use of these globals of a server. Yields to the event loop, because compiling tools takes a while. */
const listServerUses = async (
  tx: Transaction,
  serverId: string,
  keys: ReadonlySet<string>,
  find: FindGlobal,
): Promise<KeyUse[]> => {
  const instances = await listInstancesReading(tx, serverId, keys)
  const upstreams = await listAllUpstreams(tx, serverId)
  const uses = [
    ...(await mapInTurns(instances, instance => usesOfInstance(instance, find))),
    ...(await mapInTurns(upstreams, ({ config }) => usesOfUpstream(config, find))),
  ]
  return uses.flat().filter(({ key }) => keys.has(key))
}

const originsIn = (uses: readonly KeyUse[]): string[] => [...new Set(uses.flatMap(({ origins = [] }) => origins))]

export type OriginFault = { path: string; message: string }

const describePlace = (origins: readonly string[] | undefined): string => {
  if (origins === undefined) return 'an unknown origin'
  return origins.length === 0 ? "an origin outside the tool's allowedOrigins" : origins.join(' or ')
}

const explain = ({ key, path, origins }: KeyUse): OriginFault => ({
  path,
  message: explainRefusal(key, describePlace(origins)),
})

export type Binder = { actor: Actor; server: Server }

/**
 * Returns whether a use of a secret is refused. `allowed` is undefined if the secret has no origins and the actor may
 * not set them.
 */
const isRefused = ({ isBaseUrl, origins }: KeyUse, allowed: readonly string[] | undefined): boolean => {
  if (isBaseUrl) return false
  // A missing global could lead anywhere, and origins that are set later must not include it unseen.
  if (origins === undefined) return allowed === undefined
  return !origins.some(one => isAmongOrigins(allowed ?? [], one))
}

/**
 * Settles where the secrets of bindings may be sent. The first binding by somebody who may choose sets the origins of a
 * secret. Only uses for which `isChanged` returns true count: the actor did not choose the others. Returns a fault for
 * each use that can never be sent. Keys that are not secrets are noted, because they may become one.
 */
export const settleOrigins = async (
  tx: Transaction,
  { actor, server }: Binder,
  globals: readonly Global[],
  uses: readonly KeyUse[],
  isChanged: (use: KeyUse) => boolean = () => true,
): Promise<OriginFault[]> => {
  const byKey = new Map(globals.map(global => [global.key, global]))
  const noted = new Map<string, ReadonlySet<string>>()
  const faults: OriginFault[] = []
  for (const [key, ofKey] of Map.groupBy(uses, use => use.key)) {
    const secret = byKey.get(key)
    const changed = ofKey.filter(isChanged)
    const origins = originsIn(changed).slice(0, MAX_ORIGINS)
    if (!secret?.isSecret) {
      if (origins.length > 0) noted.set(key, new Set(origins))
      continue
    }
    const isNew = secret.origins === undefined && mayChooseOrigins(actor, server, secret)
    if (isNew && origins.length > 0) {
      await setOrigins(tx, secret.id, { origins, originsBy: originsByOf(actor, server) })
      await auditOrigins(tx, actor, server, { key, from: undefined, to: origins })
    }
    const affected = secret.origins === undefined ? changed : ofKey
    const allowed = isNew ? origins : secret.origins
    faults.push(...affected.filter(use => isRefused(use, allowed)).map(explain))
  }
  await noteBoundOrigins(tx, { serverId: server.id, userId: actor.userId }, noted)
  return faults
}

/** Creates the function that settles where the secrets of an upstream may be sent. */
export const createOriginSettling =
  (sealing: Sealing) =>
  async (
    tx: Transaction,
    actor: Actor,
    serverId: string,
    { config, before }: { config: UpstreamConfig; before: UpstreamConfig | undefined },
  ): Promise<OriginFault[]> => {
    const server = await getServerFor(tx, actor, serverId, 'build')
    const globals = await listGlobals(tx, serverId)
    const uses = usesOfUpstream(config, createGlobalLookup(globals, sealing))
    const changed = changedKeysOf(config, before)
    return settleOrigins(tx, { actor, server }, globals, uses, ({ key }) => changed.has(key))
  }

/**
 * Lists the origins to which a key is bound now, if users have bound it to any. Call it outside of a transaction where
 * possible, because it may compile all tools of the server.
 */
export const listCurrentOrigins = async (
  tx: Transaction,
  serverId: string,
  key: string,
  sealing: Sealing,
): Promise<string[]> => {
  if ((await listBoundOrigins(tx, serverId, key)).length === 0) return []
  const find = createGlobalLookup(await listGlobals(tx, serverId), sealing)
  return originsIn(await listServerUses(tx, serverId, new Set([key]), find))
}

/**
 * Returns the origins of a value that becomes a secret, or that replaces another user's: those to which the actor, the
 * server's owner or an admin had bound the key, and which are among its `current` ones.
 */
export const findBoundOrigins = async (
  tx: Transaction,
  { actor, server }: Binder,
  key: string,
  current: readonly string[],
): Promise<string[]> => {
  const bound = await listBoundOrigins(tx, server.id, key)
  if (bound.length === 0) return []
  const trusted = new Set([actor.userId, server.ownerId])
  for (const userId of new Set(bound.map(one => one.userId))) {
    const role = await findRole(tx, server.organizationId, userId)
    if (role !== undefined && mayRole(role, 'manage')) trusted.add(userId)
  }
  const theirs = new Set(bound.flatMap(({ userId, origin }) => (trusted.has(userId) ? origin : [])))
  return current.filter(origin => theirs.has(origin)).slice(0, MAX_ORIGINS)
}

/** Returns a server's secrets, and the origins that its tools and attached MCP servers would send each of them to. */
export const listOriginsInUse = async (
  tx: Transaction,
  serverId: string,
  sealing: Sealing,
): Promise<{ secrets: readonly Global[]; originsOf: (key: string) => string[] }> => {
  const globals = await listGlobals(tx, serverId)
  const secrets = globals.filter(({ isSecret }) => isSecret)
  const keys = new Set(secrets.map(({ key }) => key))
  const uses = await listServerUses(tx, serverId, keys, createGlobalLookup(globals, sealing))
  const byKey = Map.groupBy(uses, use => use.key)
  return { secrets, originsOf: key => originsIn(byKey.get(key) ?? []).slice(0, MAX_ORIGINS) }
}
