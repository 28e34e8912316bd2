import { hash } from 'node:crypto'
import type { Database } from '../../lib/db/client.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import { annotationsOf } from '../../tools/tool-annotations.ts'
import { presentTools } from '../../upstreams/catalogue/present-tools.ts'
import { keysOfConfig } from '../../upstreams/config/resolve-config.ts'
import type { UpstreamReviews } from '../../upstreams/review/upstream-reviews.ts'
import { isOAuth, type Upstream } from '../../upstreams/upstream.ts'
import { listAllUpstreams } from '../../upstreams/upstreams.store.ts'
import { globalKeysOf } from '../bindings/bindings.ts'
import { listSecretKeys } from '../globals/globals.store.ts'
import type { Instance } from '../server.ts'
import { getServerFor } from '../servers.service.ts'
import { listAllInstances } from '../tools/instances.store.ts'
import { listWrittenCredentials, listWrittenInTool } from './written-credentials.ts'

/** What calls can use and change. If the server is public, anyone with its address can make these calls. */
export type PublicReach = {
  /** Changes whenever the rest does. */
  version: string
  /** The secrets that calls send, by key, with the names of the tools and MCP servers that use each. */
  secrets: readonly { key: string; usedBy: readonly string[] }[]
  /** Where tools and MCP servers contain other credentials, such as "header Authorization", with their names. */
  written: readonly { place: string; usedBy: string }[]
  /** Names of the MCP servers that are called with an account that all callers share. */
  accounts: readonly string[]
  /** Names of the tools that may delete or overwrite data, according to their annotations. */
  destructive: readonly string[]
  /** Names of the tools of MCP servers that change data and do not say whether they are destructive. */
  undeclared: readonly string[]
  /** Names of MCP servers whose tools are not known: those of a passthrough server. */
  unknown: readonly string[]
}

type PublicReachParts = { db: Database; listLiveSources: UpstreamReviews['listLiveSources'] }

const listSecretUses = (
  secrets: ReadonlySet<string>,
  instances: readonly Instance[],
  upstreams: readonly Upstream[],
): PublicReach['secrets'] => {
  const uses = [
    ...instances.flatMap(({ name, bindings }) =>
      Object.entries(bindings).flatMap(([parameter, binding]) =>
        [...globalKeysOf(parameter, binding)].map(key => ({ key, name })),
      ),
    ),
    ...upstreams.flatMap(({ name, config }) => keysOfConfig(config).map(key => ({ key, name }))),
  ].filter(({ key }) => secrets.has(key))
  return [...Map.groupBy(uses, ({ key }) => key)]
    .map(([key, found]) => ({ key, usedBy: [...new Set(found.map(({ name }) => name))] }))
    .sort((one, other) => (one.key < other.key ? -1 : 1))
}

const listWritten = (
  secrets: ReadonlySet<string>,
  instances: readonly Instance[],
  upstreams: readonly Upstream[],
): PublicReach['written'] => [
  ...instances.flatMap(instance => listWrittenInTool(instance).map(place => ({ place, usedBy: instance.name }))),
  ...upstreams.flatMap(({ name, config }) =>
    listWrittenCredentials(config, secrets).map(place => ({ place, usedBy: name })),
  ),
]

/** Returns whether a tool of an upstream is destructive. Undefined if it changes data and does not say. */
const isDestructive = ({ annotations }: JsonObject): boolean | undefined => {
  if (!isJsonObject(annotations)) return undefined
  if (annotations.readOnlyHint === true) return false
  return typeof annotations.destructiveHint === 'boolean' ? annotations.destructiveHint : undefined
}

const isOwnDestructive = ({ tool }: Instance): boolean => {
  const { readOnlyHint, destructiveHint } = annotationsOf(tool)
  return destructiveHint === true && readOnlyHint !== true
}

/**
 * Creates a function that returns what a server opens to everyone if it becomes public. Throws like other changes of
 * the server if the actor may not build it.
 */
export const createPublicReach =
  ({ db, listLiveSources }: PublicReachParts) =>
  async (actor: Actor, serverId: string): Promise<PublicReach> => {
    const { presentation } = await getServerFor(db, actor, serverId, 'build')
    const [secrets, all, sources, attached] = await Promise.all([
      listSecretKeys(db, serverId),
      listAllInstances(db, serverId),
      listLiveSources(serverId),
      listAllUpstreams(db, serverId),
    ])
    const instances = all.filter(({ isEnabled }) => isEnabled)
    const upstreams = attached.filter(({ isEnabled }) => isEnabled)
    const isShared = ({ config: { auth } }: Upstream) => isOAuth(auth) && auth.per === 'server'
    const own = all.map(({ name }) => name)
    const foreign = presentTools(sources, own).tools.map(({ name, item }) => ({
      name,
      isDestructive: isDestructive(item.declared),
    }))
    const reach = {
      secrets: listSecretUses(secrets, instances, upstreams),
      written: listWritten(secrets, instances, upstreams),
      accounts: upstreams.filter(isShared).map(({ name }) => name),
      destructive: [
        ...instances.filter(isOwnDestructive).map(({ name }) => name),
        ...foreign.flatMap(tool => (tool.isDestructive === true ? tool.name : [])),
      ],
      undeclared: foreign.flatMap(tool => (tool.isDestructive === undefined ? tool.name : [])),
      unknown: presentation === 'passthrough' ? upstreams.map(({ name }) => name) : [],
    }
    return { ...reach, version: hash('sha256', JSON.stringify(reach), 'base64url') }
  }
