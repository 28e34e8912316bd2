import type { Database } from '../platform/db/index.ts'

/** What the frame of a server's page says of it; undefined where it is none of these organizations'. */
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
      organizationId: true,
      organization: { select: { name: true } },
      _count: { select: { instances: true, globals: true, toolkits: true, upstreams: true } },
    },
  })
  if (row === null) return undefined
  const { access, presentation, organization, description, _count: counts, ...rest } = row
  return {
    ...rest,
    description: description ?? undefined,
    tier: access,
    passesOn: presentation === 'passthrough',
    organizationName: organization.name,
    counts: {
      tools: counts.instances,
      sources: counts.toolkits + counts.upstreams,
      upstreams: counts.upstreams,
      globals: counts.globals,
    },
  }
}
