import type { Transaction } from '../../lib/db/client.ts'

/** A server is noted as a sample under this prefix and its ID. The value is the ID of the sample's toolkit. */
const PREFIX = 'sample:'

export const noteSample = async (tx: Transaction, serverId: string, toolkitId: string): Promise<void> => {
  const name = PREFIX + serverId
  await tx.installation.upsert({ where: { name }, create: { name, value: toolkitId }, update: { value: toolkitId } })
}

export const forgetSample = async (tx: Transaction, serverId: string): Promise<void> => {
  await tx.installation.deleteMany({ where: { name: PREFIX + serverId } })
}

/** Returns the ID of a sample's toolkit, which may have been deleted since. Undefined if the server is not a sample. */
export const findSampleToolkitId = async (tx: Transaction, serverId: string): Promise<string | undefined> =>
  (await tx.installation.findUnique({ where: { name: PREFIX + serverId } }))?.value

/** Returns those of these servers that are samples. */
export const listSamplesAmong = async (
  tx: Transaction,
  serverIds: readonly string[],
): Promise<{ id: string; ownerId: string; organizationId: string }[]> => {
  const names = serverIds.map(id => PREFIX + id)
  const rows = await tx.installation.findMany({ where: { name: { in: names } }, select: { name: true } })
  if (rows.length === 0) return []
  const ids = rows.map(({ name }) => name.slice(PREFIX.length))
  const select = { id: true, ownerId: true, organizationId: true } as const
  return tx.server.findMany({ where: { id: { in: ids }, removedAt: null }, select })
}
