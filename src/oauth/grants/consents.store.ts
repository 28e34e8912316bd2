import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Transaction } from '../platform/db/index.ts'
import { putArtifact } from './artifacts.store.ts'

/** Whose access, by which client, to which server: each has one grant. */
export type GrantParties = { userId: string; clientId: string; serverId: string }

const KIND = 'Grant'
/** A grant lasts until it is taken back; the library wants an end. Seconds. */
const FOR_EVER_SECONDS = 100 * 365 * 24 * 60 * 60

/** As the library writes its grants. */
const GrantPayload = z.object({ resources: z.record(z.string(), z.string()).default({}) })

export const findGrantId = async (tx: Transaction, parties: GrantParties): Promise<string | undefined> =>
  (await tx.oAuthArtifact.findFirst({ where: { kind: KIND, ...parties }, select: { id: true } }))?.id

/** Adds scopes to what was granted before. Its id is the row's own, so that it can be named where it is listed. */
export const putGrant = async (
  tx: Transaction,
  parties: GrantParties,
  resource: string,
  scopes: readonly string[],
  now: Date,
): Promise<{ grantId: string; isChanged: boolean }> => {
  const row = await tx.oAuthArtifact.findFirst({ where: { kind: KIND, ...parties } })
  const { userId, clientId } = parties
  const before = GrantPayload.safeParse(row?.payload).data?.resources[resource] ?? ''
  const granted = [...new Set([...before.split(' ').filter(scope => scope !== ''), ...scopes])].join(' ')
  const grantId = row?.id ?? randomUUID()
  const iat = Math.floor(now.getTime() / 1_000)
  const payload = {
    kind: KIND,
    iat,
    exp: iat + FOR_EVER_SECONDS,
    accountId: userId,
    clientId,
    resources: { [resource]: granted },
  }
  if (row === null) await putArtifact(tx, { id: grantId, kind: KIND, handle: grantId, grantId, payload, ...parties })
  else await tx.oAuthArtifact.update({ where: { id: row.id }, data: { payload } })
  return { grantId, isChanged: granted !== before }
}

/** The grant and everything that was given out by it; what it was, if it was there. */
export const removeGrantWhole = async (tx: Transaction, grantId: string) => {
  const grant = await tx.oAuthArtifact.findFirst({
    where: { id: grantId, kind: KIND },
    select: { userId: true, clientId: true, server: { select: { id: true, name: true, organizationId: true } } },
  })
  await tx.oAuthArtifact.deleteMany({ where: { grantId } })
  return grant ?? undefined
}
