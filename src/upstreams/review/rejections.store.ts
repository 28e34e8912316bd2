import type { Transaction } from '../../lib/db/client.ts'
import { chunksOf } from './approvals.store.ts'
import { hashOfName, type PendingTool } from './tool-review.ts'

type RejectedTool = Pick<PendingTool, 'name' | 'hash'>

/** Returns the hashes of rejected definitions by upstream and hashed tool name. */
export const listRejectedHashes = async (
  tx: Transaction,
  upstreamIds: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> => {
  const rows = await tx.upstreamRejection.findMany({
    where: { upstreamId: { in: [...upstreamIds] } },
    select: { upstreamId: true, nameHash: true, hash: true },
  })
  const byUpstream = Map.groupBy(rows, ({ upstreamId }) => upstreamId)
  return new Map([...byUpstream].map(([id, own]) => [id, new Map(own.map(({ nameHash, hash }) => [nameHash, hash]))]))
}

/** Removes the rejections of these tools. */
export const removeRejections = async (
  tx: Transaction,
  upstreamId: string,
  tools: readonly Pick<PendingTool, 'name'>[],
): Promise<void> => {
  for (const chunk of chunksOf(tools)) {
    const nameHashes = chunk.map(({ name }) => hashOfName(name))
    await tx.upstreamRejection.deleteMany({ where: { upstreamId, nameHash: { in: nameHashes } } })
  }
}

/** Stores rejections, replacing earlier ones for the same tools. */
export const putRejections = async (
  tx: Transaction,
  upstreamId: string,
  tools: readonly RejectedTool[],
): Promise<void> => {
  await removeRejections(tx, upstreamId, tools)
  for (const chunk of chunksOf(tools)) {
    const data = chunk.map(({ name, hash }) => ({ upstreamId, nameHash: hashOfName(name), hash }))
    await tx.upstreamRejection.createMany({ data })
  }
}

/** Removes rejections of tools that no longer exist. */
export const removeStaleRejections = async (
  tx: Transaction,
  upstreamId: string,
  names: readonly string[],
): Promise<void> => {
  const there = new Set(names.map(hashOfName))
  const rejected = (await listRejectedHashes(tx, [upstreamId])).get(upstreamId) ?? new Map<string, string>()
  for (const chunk of chunksOf([...rejected.keys()].filter(nameHash => !there.has(nameHash)))) {
    await tx.upstreamRejection.deleteMany({ where: { upstreamId, nameHash: { in: chunk } } })
  }
}
