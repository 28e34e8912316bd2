import type { Actor } from '../kernel/index.ts'
import type { Transaction } from '../platform/db/index.ts'

export type HeldServer = { id: string; name: string; organizationId: string; ownerId: string }

/**
 * What an organization holds and this folder cannot know: servers, and who may use them. Supplied by `services.ts`.
 * Where ids of servers are answered, those are the ones that changed.
 */
export type Holdings = {
  /** Of one owner, in all organizations or in one. */
  listServersOwnedBy: (tx: Transaction, ownerId: string, organizationId?: string) => Promise<HeldServer[]>
  /** Organizations where somebody's servers are, also such as are on their way out. */
  listOrganizationIdsOfOwner: (tx: Transaction, ownerId: string) => Promise<string[]>
  countServers: (tx: Transaction, organizationId: string) => Promise<number>
  countToolkits: (tx: Transaction, organizationId: string) => Promise<number>
  giveServers: (tx: Transaction, gift: { organizationId: string; from: string; to: string }) => Promise<string[]>
  /** Nobody names this user for a server of the organization any more, and no client goes on in their name there. */
  withdrawUser: (tx: Transaction, organizationId: string, userId: string) => Promise<string[]>
  /** From here on nobody uses the organization's servers; what is kept of them stays. Written down of each, once. */
  stopServers: (tx: Transaction, actor: Actor, organizationId: string) => Promise<string[]>
}
