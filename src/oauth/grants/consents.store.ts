import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Transaction } from '../../lib/db/client.ts'
import { putArtifact } from '../artifacts.store.ts'

/** The user, client and server of a grant. A combination has at most one grant. */
export type GrantParties = { userId: string; clientId: string; serverId: string }

const KIND = 'Grant'
/** Lifetime of grants. They last until they are revoked, but the library requires an expiry. */
const FOR_EVER_SECONDS = 100 * 365 * 24 * 60 * 60

/** The library's format for grants. */
const GrantPayload = z.object({ resources: z.record(z.string(), z.string()).default({}) })

export const findGrantId = async (tx: Transaction, parties: GrantParties): Promise<string | undefined> =>
  (await tx.oAuthArtifact.findFirst({ where: { kind: KIND, ...parties }, select: { id: true } }))?.id

/**
 * Adds scopes to the existing grant, or creates one. The grant's id is the id of its row, which the
 * list of grants also uses.
 */
export const putGrant = async (
  tx: Transaction,
  parties: GrantParties,
  resource: string,
  scopes: readonly string[],
): Promise<{ grantId: string; isChanged: boolean }> => {
  const row = await tx.oAuthArtifact.findFirst({ where: { kind: KIND, ...parties } })
  const { userId, clientId } = parties
  const before = GrantPayload.safeParse(row?.payload).data?.resources[resource] ?? ''
  const granted = [...new Set([...before.split(' ').filter(scope => scope !== ''), ...scopes])].join(' ')
  const grantId = row?.id ?? randomUUID()
  const iat = Math.floor(Date.now() / 1_000)
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

/** Removes a grant and everything issued under it. Returns the grant, or undefined if it did not exist. */
export const removeGrantWithTokens = async (tx: Transaction, grantId: string) => {
  const grant = await tx.oAuthArtifact.findFirst({
    where: { id: grantId, kind: KIND },
    select: { userId: true, clientId: true, server: { select: { id: true, name: true, organizationId: true } } },
  })
  await tx.oAuthArtifact.deleteMany({ where: { grantId } })
  return grant ?? undefined
}

/**
 * Removes all grants, codes, tokens, sessions and pending interactions of a user. Returns the number of grants. The
 * caller must announce `access_changed` afterwards.
 */
export const endGrantsOf = async (tx: Transaction, userId: string): Promise<number> => {
  const grants = await tx.oAuthArtifact.count({ where: { userId, kind: 'Grant' } })
  await tx.oAuthArtifact.deleteMany({ where: { userId } })
  return grants
}
