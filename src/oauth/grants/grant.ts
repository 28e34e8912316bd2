import type { McpScope } from '../kernel/index.ts'
import type { AccessPolicy } from '../servers/index.ts'

/** That a user lets a client use a server in their name, until one of them ends it. Its tokens end with it. */
export type Grant = {
  id: string
  userId: string
  userEmail: string
  /** `name` as the client calls itself; of one known by the address of its metadata document, that address's host. */
  client: { id: string; name: string }
  server: { name: string; policy: AccessPolicy }
  scopes: readonly McpScope[]
  lastUsedAt: Date | undefined
  expiresAt: Date | undefined
  createdAt: Date
  updatedAt: Date
}
