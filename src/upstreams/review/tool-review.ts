import { createHash } from 'node:crypto'
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import type { CatalogueItem } from '../catalogue/catalogue.ts'

/**
 * A tool whose new definition is waiting for approval. `before` is the definition that clients see until the approval;
 * it is undefined for a new tool.
 */
export type PendingTool = {
  /** The upstream's own name for the tool. */
  name: string
  hash: string
  before: JsonObject | undefined
  after: JsonObject
}

/** Returns JSON with sorted members, so that reordering them does not count as a change. */
const toCanonical = (value: JsonValue | undefined): string => {
  if (Array.isArray(value)) return `[${value.map(toCanonical).join(',')}]`
  if (!isJsonObject(value)) return JSON.stringify(value ?? null)
  const members = Object.keys(value).sort()
  return `{${members.map(key => `${JSON.stringify(key)}:${toCanonical(value[key])}`).join(',')}}`
}

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url')

export const hashOfName = (name: string): string => digest(name)

/** Returns the definition without `_meta`, which is meant for programs and may differ in every response. */
export const definitionOf = ({ declared: { _meta, ...definition } }: CatalogueItem): JsonObject => definition

export const hashOfDefinition = (definition: JsonObject): string => digest(toCanonical(definition))

/** Returns a hash of the waiting tools. With it, approving all tools approves only those that were shown. */
export const versionOf = (waiting: readonly PendingTool[]): string =>
  digest(waiting.map(({ name, hash }) => `${hashOfName(name)}${hash}`).join(','))

/** Returns the tool with its approved definition. */
const withDefinition = ({ name, declared }: CatalogueItem, definition: JsonObject): CatalogueItem => ({
  name,
  declared: { ...definition, ...(declared._meta === undefined ? {} : { _meta: declared._meta }) },
})

/** A tool together with how it compares to its approved definition. */
type ClassifiedTool = {
  item: CatalogueItem
  nameHash: string
  after: JsonObject
  hash: string
  status: 'approved' | 'changed' | 'new'
}

/** Compares tools with their approved definitions. `approved` maps name hashes to definition hashes. */
export const classifyTools = (
  tools: readonly CatalogueItem[],
  approved: ReadonlyMap<string, string>,
): readonly ClassifiedTool[] =>
  tools.map(item => {
    const nameHash = hashOfName(item.name)
    const after = definitionOf(item)
    const hash = hashOfDefinition(after)
    const approvedHash = approved.get(nameHash)
    const status = approvedHash === undefined ? 'new' : approvedHash === hash ? 'approved' : 'changed'
    return { item, nameHash, after, hash, status }
  })

/**
 * Separates the tools that clients see from those that wait for approval. `definitions` contains the approved
 * definitions of changed tools by hashed name.
 */
export const splitByApproval = (
  tools: readonly ClassifiedTool[],
  definitions: ReadonlyMap<string, JsonObject>,
): { live: CatalogueItem[]; waiting: PendingTool[] } => {
  const live: CatalogueItem[] = []
  const waiting: PendingTool[] = []
  for (const { item, nameHash, after, hash, status } of tools) {
    const before = definitions.get(nameHash)
    if (status === 'approved') live.push(item)
    else waiting.push({ name: item.name, hash, before, after })
    if (status !== 'approved' && before !== undefined) live.push(withDefinition(item, before))
  }
  return { live, waiting }
}
