import { createHash } from 'node:crypto'
import { z } from 'zod'
import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import type { Upstream } from '../upstream.ts'

const Declared = z.custom<JsonObject>(isJsonObject)

/** One thing that an upstream offers. `name`: as the upstream knows it; of a resource its URI, of a template the pattern. */
const CatalogueItem = z.object({
  name: z.string(),
  /** As the upstream declared it, but for hidden characters in its titles and descriptions. */
  declared: Declared,
})
export type CatalogueItem = z.infer<typeof CatalogueItem>

/** Something that the builder should look at; `item` without what is hidden in it. */
const CatalogueFlag = z.object({
  kind: z.enum(['tool', 'resource', 'template', 'prompt', 'upstream']),
  item: z.string(),
  message: z.string(),
})
export type CatalogueFlag = z.infer<typeof CatalogueFlag>

/** All that an upstream offers. */
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

/** A catalogue as it is kept: `source` is of what was asked, `hash` of what it answered. */
export type KeptCatalogue = { source: string; hash: string; catalogue: Catalogue; fetchedAt: Date }

const digest = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('base64url')

/** Tells configurations apart that may offer something else: what leads to another server, or asks for other lists. */
export const sourceOf = ({ config }: Pick<Upstream, 'config'>): string => {
  const { transport, features } = config
  if (config.transport !== 'stdio') return digest([transport, config.url, config.headers, features])
  return digest([transport, config.command, config.args, config.env, config.cwd, features])
}

export const hashOf = (catalogue: Catalogue): string => digest(catalogue)
