import type { Database } from '../../lib/db/client.ts'

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
    /**
     * Whether this is a passthrough server, which forwards requests to one MCP server. Its tools are not known here.
     */
    passesOn: presentation === 'passthrough',
    organizationName: organization.name,
    /** `tools` counts only the server's own tools; `sources` counts toolkits and upstreams. */
    counts: {
      tools: counts.instances,
      sources: counts.toolkits + counts.upstreams,
      upstreams: counts.upstreams,
      globals: counts.globals,
    },
  }
}
