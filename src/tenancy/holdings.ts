import type { Transaction } from '../lib/db/client.ts'
import type { Actor } from '../lib/kernel/actor.ts'

export type HeldServer = { id: string; name: string; organizationId: string; ownerId: string }

/** An MCP server that runs as a command on this machine, and the server that it is attached to. */
export type HeldCommand = { name: string; serverName: string }

/**
 * Operations on an organization's servers and toolkits, whose modules this folder must not import. Supplied by
 * `services.ts`. Returned server IDs are those of the affected servers.
 */
export type Holdings = {
  listServersOwnedBy: (tx: Transaction, ownerId: string, organizationId?: string) => Promise<HeldServer[]>
  /** Lists the organizations in which a user owns servers, including servers that are being deleted. */
  listOrganizationIdsOfOwner: (tx: Transaction, ownerId: string) => Promise<string[]>
  /** Finds a command that one of the organization's servers runs. */
  findCommand: (tx: Transaction, organizationId: string) => Promise<HeldCommand | undefined>
  countServers: (tx: Transaction, organizationId: string) => Promise<number>
  countToolkits: (tx: Transaction, organizationId: string) => Promise<number>
  giveServers: (tx: Transaction, gift: { organizationId: string; from: string; to: string }) => Promise<string[]>
  /** Removes a user from the allowed users of the organization's servers, and revokes their clients' access there. */
  withdrawUser: (tx: Transaction, organizationId: string, userId: string) => Promise<string[]>
  /** Stops the organization's servers without deleting their data. Records each in the audit log, once. */
  stopServers: (tx: Transaction, actor: Actor, organizationId: string) => Promise<string[]>
}
