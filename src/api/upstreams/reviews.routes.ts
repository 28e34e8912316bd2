import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { decodeCursor, pageOf, pageQuery, toPage } from '../../lib/http/paging.ts'
import { resourceRoutes, viewAsIs } from '../../lib/http/resource-routes.ts'
import { orNull, uuidParams } from '../../lib/http/schemas.ts'
import { hashOfName, type PendingTool } from '../../upstreams/review/tool-review.ts'
import type { Decision, UpstreamReviews } from '../../upstreams/review/upstream-reviews.ts'

const definition = z.record(z.string(), z.json())

const PendingToolView = z.object({
  name: z.string().describe("the MCP server's own name for the tool"),
  hash: z.string().describe('hash of the pending definition, required to approve or reject it'),
  before: orNull(definition).describe('the current definition; null for a new tool'),
  after: definition.describe('the pending definition'),
})

const UpstreamChangesView = pageOf(PendingToolView).extend({
  reviewed: z.boolean().describe('whether changes of attached MCP servers are reviewed on this server'),
  version: z.string().describe('version of all pending changes, required to approve or reject them together'),
  total: z.int(),
  rejected: z.int().describe('number of rejected changes, which are not listed'),
})

/** Maximum number of tools to decide on by name. To decide on more at once, clients send the version. */
const MAX_TOOLS_BY_NAME = 500

const DecideOnChanges = z.union(
  [
    z.strictObject({
      version: z.string().max(100).describe('covers all pending changes, if this is still their version'),
    }),
    z.strictObject({
      tools: z
        .array(z.strictObject({ name: z.string().max(2_048), hash: z.string().max(100) }))
        .min(1, 'must contain at least one tool')
        .max(MAX_TOOLS_BY_NAME, `must contain at most ${MAX_TOOLS_BY_NAME} tools`),
      rejected: z.boolean().default(false).describe('whether these tools are rejected now, to approve them after all'),
    }),
  ],
  'must contain either version, or tools with their hashes',
)

const ApprovedView = z.object({ approved: z.int().describe('number of tools') })
const RejectedView = z.object({ rejected: z.int().describe('number of tools') })

const params = uuidParams

/** Maximum number of characters of a name in a cursor. The hash distinguishes names that start the same. */
const CURSOR_CHARS = 100
const CURSOR = z.tuple([z.string(), z.string()])
type Position = z.infer<typeof CURSOR>

const positionOf = ({ name }: PendingTool): Position => [name.slice(0, CURSOR_CHARS).toWellFormed(), hashOfName(name)]

const compare = (a: Position, b: Position): number => {
  const [one, other] = a[0] === b[0] ? [a[1], b[1]] : [a[0], b[0]]
  return one < other ? -1 : one > other ? 1 : 0
}

const toDecision = (body: z.infer<typeof DecideOnChanges>): Decision =>
  'version' in body
    ? body
    : {
        tools: body.tools.map(({ name, hash }) => ({ nameHash: hashOfName(name), hash })),
        isRejected: body.rejected,
      }

/** Routes for the pending changes of an upstream whose server requires reviews, and for decisions on them. */
export const upstreamReviewRoutes: FastifyPluginAsyncZod<{ upstreamReviews: UpstreamReviews }> = async (
  app,
  { upstreamReviews },
) => {
  const routes = resourceRoutes(app, { access: 'user', tags: ['upstreams'] })

  routes.get(
    '/upstreams/:id/changes',
    { params, querystring: pageQuery },
    viewAsIs(UpstreamChangesView),
    async ({ actor, params, query: { limit, cursor } }) => {
      const review = await upstreamReviews.getReview(actor, params.id)
      const after = decodeCursor(cursor, CURSOR)
      const rest = review.waiting
        .map(tool => ({ tool, position: positionOf(tool) }))
        .filter(({ position }) => after === undefined || compare(position, after) > 0)
        .sort((a, b) => compare(a.position, b.position))
      const { items, nextCursor } = toPage(rest, limit, ({ position }) => position)
      return {
        reviewed: review.isReviewed,
        version: review.version,
        total: review.waiting.length,
        rejected: review.rejected.length,
        items: items.map(({ tool }) => tool),
        nextCursor,
      }
    },
  )
  routes.perform(
    '/upstreams/:id/approve',
    { params, body: DecideOnChanges },
    { schema: ApprovedView, toView: (approved: number) => ({ approved }) },
    ({ actor, params, body }) => upstreamReviews.approve(actor, params.id, toDecision(body)),
  )
  routes.perform(
    '/upstreams/:id/reject',
    { params, body: DecideOnChanges },
    { schema: RejectedView, toView: (rejected: number) => ({ rejected }) },
    ({ actor, params, body }) => upstreamReviews.reject(actor, params.id, toDecision(body)),
  )
}
