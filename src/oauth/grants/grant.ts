import type { McpScope } from '../../lib/kernel/mcp-scopes.ts'
import type { AccessPolicy } from '../../servers/access/access.ts'

/** A user's permission for a client to use a server on their behalf, until it is revoked. Its tokens end with it. */
export type Grant = {
  id: string
  userId: string
  userEmail: string
  /** `name` is the client's own name, or the host of its metadata document. */
  client: { id: string; name: string }
  server: { name: string; policy: AccessPolicy }
  scopes: readonly McpScope[]
  lastUsedAt: Date | undefined
  expiresAt: Date | undefined
  createdAt: Date
  updatedAt: Date
}
