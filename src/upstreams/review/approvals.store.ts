import type { Transaction } from '../../lib/db/client.ts'
import { isJsonObject, type JsonObject } from '../../lib/kernel/json.ts'
import { hashOfName } from './tool-review.ts'

/** Rows per query, few enough for the parameter limit of every supported database. */
const ROWS_AT_ONCE = 500

/** Splits a list into parts that fit into one query each. */
export const chunksOf = <T>(items: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / ROWS_AT_ONCE) }, (_, index) =>
    items.slice(index * ROWS_AT_ONCE, (index + 1) * ROWS_AT_ONCE),
  )

const parseDefinition = (text: string): JsonObject => {
  const parsed: unknown = JSON.parse(text)
  return isJsonObject(parsed) ? parsed : {}
}

/**
 * Returns the hashes of approved definitions by upstream and hashed tool name. Does not read the definitions, which may
 * be large.
 */
export const listApprovedHashes = async (
  tx: Transaction,
  upstreamIds: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> => {
  const rows = await tx.upstreamApproval.findMany({
    where: { upstreamId: { in: [...upstreamIds] } },
    select: { upstreamId: true, nameHash: true, hash: true },
  })
  const byUpstream = Map.groupBy(rows, ({ upstreamId }) => upstreamId)
  return new Map([...byUpstream].map(([id, own]) => [id, new Map(own.map(({ nameHash, hash }) => [nameHash, hash]))]))
}

/** Returns approved definitions by hashed tool name. */
export const listApprovedDefinitions = async (
  tx: Transaction,
  upstreamId: string,
  nameHashes: readonly string[],
): Promise<ReadonlyMap<string, JsonObject>> => {
  const found = new Map<string, JsonObject>()
  for (const chunk of chunksOf(nameHashes)) {
    const rows = await tx.upstreamApproval.findMany({
      where: { upstreamId, nameHash: { in: chunk } },
      select: { nameHash: true, definition: true },
    })
    for (const { nameHash, definition } of rows) found.set(nameHash, parseDefinition(definition))
  }
  return found
}

type ApprovedTool = { name: string; hash: string; after: JsonObject }

/** Stores approvals, replacing earlier ones for the same tools. */
export const putApprovals = async (
  tx: Transaction,
  upstreamId: string,
  tools: readonly ApprovedTool[],
): Promise<void> => {
  for (const chunk of chunksOf(tools)) {
    const rows = chunk.map(({ name, hash, after }) => ({
      upstreamId,
      nameHash: hashOfName(name),
      hash,
      definition: JSON.stringify(after),
    }))
    await tx.upstreamApproval.deleteMany({
      where: { upstreamId, nameHash: { in: rows.map(({ nameHash }) => nameHash) } },
    })
    await tx.upstreamApproval.createMany({ data: rows })
  }
}

/** Removes approvals of tools that no longer exist. A tool that comes back must be approved again. */
export const removeStaleApprovals = async (
  tx: Transaction,
  upstreamId: string,
  names: readonly string[],
): Promise<void> => {
  const there = new Set(names.map(hashOfName))
  const approved = (await listApprovedHashes(tx, [upstreamId])).get(upstreamId) ?? new Map<string, string>()
  for (const chunk of chunksOf([...approved.keys()].filter(nameHash => !there.has(nameHash)))) {
    await tx.upstreamApproval.deleteMany({ where: { upstreamId, nameHash: { in: chunk } } })
  }
}

/** Removes the approvals and rejections of all upstreams of the server. */
export const removeReviews = async (tx: Transaction, serverId: string): Promise<void> => {
  await tx.upstreamApproval.deleteMany({ where: { upstream: { serverId } } })
  await tx.upstreamRejection.deleteMany({ where: { upstream: { serverId } } })
}
