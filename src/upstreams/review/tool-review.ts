import { createHash } from 'node:crypto'
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'
import type { CatalogueItem } from '../catalogue/catalogue.ts'

/** A tool that waits for a builder. `before` is what is live meanwhile: undefined of one that never was. */
export type WaitingTool = {
  /** As the upstream knows it. */
  name: string
  hash: string
  before: JsonObject | undefined
  after: JsonObject
}

/** As JSON whose members are in one order: nobody is asked about the same in another. */
const toCanonical = (value: JsonValue | undefined): string => {
  if (Array.isArray(value)) return `[${value.map(toCanonical).join(',')}]`
  if (!isJsonObject(value)) return JSON.stringify(value ?? null)
  const members = Object.keys(value).sort()
  return `{${members.map(key => `${JSON.stringify(key)}:${toCanonical(value[key])}`).join(',')}}`
}

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url')

export const hashOfName = (name: string): string => digest(name)

/** All that is said of a tool to models and clients but `_meta`, which is between programs and may differ each time. */
export const definitionOf = ({ declared: { _meta, ...definition } }: CatalogueItem): JsonObject => definition

export const hashOfDefinition = (definition: JsonObject): string => digest(toCanonical(definition))

/** Of all that waits: whoever approves all of it says so what they have seen. */
export const versionOf = (waiting: readonly WaitingTool[]): string =>
  digest(waiting.map(({ name, hash }) => `${hashOfName(name)}${hash}`).join(','))

/** The tool as clients see it while its change waits. */
const withDefinition = ({ name, declared }: CatalogueItem, definition: JsonObject): CatalogueItem => ({
  name,
  declared: { ...definition, ...(declared._meta === undefined ? {} : { _meta: declared._meta }) },
})

/** A tool beside what is approved of it, which is told by its hash alone. */
export type JudgedTool = {
  item: CatalogueItem
  nameHash: string
  after: JsonObject
  hash: string
  verdict: 'approved' | 'changed' | 'new'
}

/** `approved`: hashes of definitions by those of names. */
export const judgeTools = (
  tools: readonly CatalogueItem[],
  approved: ReadonlyMap<string, string>,
): readonly JudgedTool[] =>
  tools.map(item => {
    const nameHash = hashOfName(item.name)
    const after = definitionOf(item)
    const hash = hashOfDefinition(after)
    const known = approved.get(nameHash)
    const verdict = known === undefined ? 'new' : known === hash ? 'approved' : 'changed'
    return { item, nameHash, after, hash, verdict }
  })

/** What of the tools is live, and what waits. `definitions`: what is approved of the changed ones, by hashes of names. */
export const reviewTools = (
  tools: readonly JudgedTool[],
  definitions: ReadonlyMap<string, JsonObject>,
): { live: CatalogueItem[]; waiting: WaitingTool[] } => {
  const live: CatalogueItem[] = []
  const waiting: WaitingTool[] = []
  for (const { item, nameHash, after, hash, verdict } of tools) {
    const before = definitions.get(nameHash)
    if (verdict === 'approved') live.push(item)
    else waiting.push({ name: item.name, hash, before, after })
    if (verdict !== 'approved' && before !== undefined) live.push(withDefinition(item, before))
  }
  return { live, waiting }
}
