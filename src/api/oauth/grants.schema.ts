import { z } from 'zod'
import { timeSchema } from '../../lib/http/schemas.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { MCP_SCOPES } from '../../lib/kernel/mcp-scopes.ts'
import { serverUrl } from '../../lib/kernel/server-url.ts'
import type { Grant } from '../../oauth/grants/grant.ts'
import { mayUseServerOf } from '../../oauth/grants/grants.service.ts'

const common = {
  id: z.uuid(),
  client: z.object({
    id: z.string().describe('its client_id'),
    name: z.string().describe('name that the client registered, or the host of its metadata document'),
  }),
  scopes: z.array(z.enum(MCP_SCOPES)),
  lastUsedAt: timeSchema.nullable(),
  expiresAt: timeSchema.nullable().describe('null if it is valid until revoked'),
  createdAt: timeSchema,
  updatedAt: timeSchema,
}

export const GrantView = z
  .object({ ...common, user: z.object({ id: z.uuid(), email: z.string() }) })
  .meta({ id: 'Grant' })

export const ApplicationView = z
  .object({
    ...common,
    server: z.object({
      id: z.uuid(),
      name: z.string().nullable().describe('null if you can no longer use the server'),
      url: z.url(),
    }),
  })
  .meta({ id: 'Application' })

const toCommonView = ({ id, client, scopes, lastUsedAt, expiresAt, createdAt, updatedAt }: Grant) => ({
  id,
  client,
  scopes: [...scopes],
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
  expiresAt: expiresAt?.toISOString() ?? null,
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
})

export const toGrantView = (grant: Grant): z.infer<typeof GrantView> => ({
  ...toCommonView(grant),
  user: { id: grant.userId, email: grant.userEmail },
})

export const toApplicationView =
  (baseUrl: string) =>
  (grant: Grant, actor: Actor): z.infer<typeof ApplicationView> => {
    const { name, policy } = grant.server
    const shown = mayUseServerOf(actor, grant) ? name : null
    return {
      ...toCommonView(grant),
      server: { id: policy.serverId, name: shown, url: serverUrl(baseUrl, policy.serverId) },
    }
  }
