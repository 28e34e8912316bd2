import type { Rows, Transaction } from '../../lib/db/client.ts'
import { type IdPage, idPageQuery } from '../../lib/http/id-paging.ts'
import { mapFound } from '../../lib/kernel/missing.ts'
import type { Sealed } from '../../lib/process/sealing.ts'
import type { Global } from '../server.ts'

const toGlobal = ({ isSecret, value, keyId, ...row }: Rows.Global): Global => ({
  ...row,
  ...(isSecret ? { isSecret: true, sealed: { keyId: keyId ?? '', text: value } } : { isSecret: false, value }),
})

export const listGlobals = async (tx: Transaction, serverId: string): Promise<Global[]> =>
  (await tx.global.findMany({ where: { serverId }, orderBy: { key: 'asc' } })).map(toGlobal)

export const listSecretKeys = async (tx: Transaction, serverId: string): Promise<ReadonlySet<string>> => {
  const rows = await tx.global.findMany({ where: { serverId, isSecret: true }, select: { key: true } })
  return new Set(rows.map(({ key }) => key))
}

export const listGlobalPage = async (tx: Transaction, serverId: string, page: IdPage): Promise<Global[]> =>
  (await tx.global.findMany(idPageQuery(page, { serverId }))).map(toGlobal)

export const findGlobal = async (tx: Transaction, serverId: string, key: string): Promise<Global | undefined> =>
  mapFound(await tx.global.findUnique({ where: { serverId_key: { serverId, key } } }), toGlobal)

export const countGlobals = (tx: Transaction, serverId: string): Promise<number> =>
  tx.global.count({ where: { serverId } })

/** Returns the total size of a server's encrypted secrets, in bytes. */
export const countSecretBytes = async (tx: Transaction, serverId: string): Promise<number> => {
  const rows = await tx.global.findMany({ where: { serverId, isSecret: true }, select: { value: true } })
  return rows.reduce((bytes, { value }) => bytes + Buffer.byteLength(value, 'base64'), 0)
}

export const putGlobal = async (
  tx: Transaction,
  serverId: string,
  key: string,
  content: { isSecret: false; value: string } | { isSecret: true; sealed: Sealed },
): Promise<Global> => {
  const data = content.isSecret
    ? { isSecret: true, value: content.sealed.text, keyId: content.sealed.keyId }
    : { isSecret: false, value: content.value, keyId: null }
  const where = { serverId_key: { serverId, key } }
  return toGlobal(await tx.global.upsert({ where, create: { serverId, key, ...data }, update: data }))
}

export const removeGlobal = async (tx: Transaction, serverId: string, key: string): Promise<void> => {
  await tx.global.deleteMany({ where: { serverId, key } })
}

/** Lists the IDs of the master keys that stored secrets are encrypted with. These keys must not be removed. */
export const listSealingKeyIds = async (tx: Transaction): Promise<string[]> => {
  // The database groups the rows, because there may be many secrets and this runs on every start.
  const rows = await tx.global.groupBy({ by: ['keyId'], where: { isSecret: true } })
  return rows.flatMap(row => row.keyId ?? [])
}
