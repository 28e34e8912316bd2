import type { Database } from '../../lib/db/client.ts'
import { policyOf } from '../../servers/access/access.ts'
import { WITH_USERS } from '../../servers/servers.store.ts'

/** Returns the server data shown in the page frame; undefined if the server is not in one of these organizations. */
export const findServerFrame = async (db: Database, id: string, organizationIds: readonly string[]) => {
  const row = await db.server.findFirst({
    where: { id, organizationId: { in: [...organizationIds] }, removedAt: null },
    select: {
      id: true,
      name: true,
      description: true,
      access: true,
      presentation: true,
      ownerId: true,
      tierNoticeAt: true,
      ...WITH_USERS,
      organizationId: true,
      organization: { select: { name: true } },
      _count: { select: { instances: true, globals: true, toolkits: true, upstreams: true } },
    },
  })
  if (row === null) return undefined
  const disabledTools = await db.instance.count({ where: { serverId: id, isEnabled: false } })
  const { access, presentation, organization, description, allowedUsers, tierNoticeAt, _count: counts, ...rest } = row
  return {
    ...rest,
    policy: policyOf({ ...rest, access, allowedUserIds: allowedUsers.map(({ userId }) => userId) }),
    /** Whether the owner is asked whether the server should stay private. */
    hasTierNotice: tierNoticeAt !== null,
    description: description ?? undefined,
    tier: access,
    /**
     * Whether this is a passthrough server, which forwards requests to one MCP server. Its tools are not known here.
     */
    passesOn: presentation === 'passthrough',
    organizationName: organization.name,
    /** `tools` counts only the server's own tools, of which `disabledTools` are disabled; `sources` counts toolkits and upstreams. */
    counts: {
      tools: counts.instances,
      disabledTools,
      sources: counts.toolkits + counts.upstreams,
      upstreams: counts.upstreams,
      globals: counts.globals,
    },
  }
}
