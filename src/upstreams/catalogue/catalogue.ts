import { createHash } from 'node:crypto'
import { z } from 'zod'
import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import type { Upstream } from '../upstream.ts'

const Declared = z.custom<JsonObject>(isJsonObject)

/** `name` identifies the item at the upstream: the URI of a resource, the URI template of a template. */
const CatalogueItem = z.object({
  name: z.string(),
  /** The upstream's declaration of the item, without hidden characters in titles and descriptions. */
  declared: Declared,
})
export type CatalogueItem = z.infer<typeof CatalogueItem>

/** A warning for the builder. `item` contains no hidden characters. */
const CatalogueFlag = z.object({
  kind: z.enum(['tool', 'resource', 'template', 'prompt', 'upstream']),
  item: z.string(),
  message: z.string(),
})
export type CatalogueFlag = z.infer<typeof CatalogueFlag>

export const Catalogue = z.object({
  serverInfo: Declared,
  capabilities: Declared,
  instructions: z.string().optional(),
  tools: z.array(CatalogueItem),
  resources: z.array(CatalogueItem),
  resourceTemplates: z.array(CatalogueItem),
  prompts: z.array(CatalogueItem),
  flags: z.array(CatalogueFlag),
})
export type Catalogue = z.infer<typeof Catalogue>

/** `source` is a hash of the configuration used for fetching. `hash` is a hash of the content. */
export type StoredCatalogue = { source: string; hash: string; catalogue: Catalogue; fetchedAt: Date }

const digest = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('base64url')

/** Hashes the parts of the configuration that determine what an upstream offers. */
export const sourceOf = ({ config }: Pick<Upstream, 'config'>): string => {
  const { transport, features } = config
  if (config.transport !== 'stdio') return digest([transport, config.url, config.headers, features])
  return digest([transport, config.command, config.args, config.env, config.cwd, features])
}

export const hashOf = (catalogue: Catalogue): string => digest(catalogue)

/** Maximum number of names in each list of differences. */
const MAX_NAMES = 100

/** Returns the names of the tools that were added, removed and changed, or undefined if there are none. */
export const toolDifferences = (before: readonly CatalogueItem[], after: readonly CatalogueItem[]) => {
  const old = new Map(before.map(({ name, declared }) => [name, digest(declared)]))
  const names = new Set(after.map(({ name }) => name))
  const namesOf = (items: readonly CatalogueItem[]): string[] => items.slice(0, MAX_NAMES).map(({ name }) => name)
  const added = namesOf(after.filter(({ name }) => !old.has(name)))
  const removed = namesOf(before.filter(({ name }) => !names.has(name)))
  const changed = namesOf(after.filter(({ name, declared }) => old.has(name) && old.get(name) !== digest(declared)))
  return added.length + removed.length + changed.length === 0 ? undefined : { added, removed, changed }
}
