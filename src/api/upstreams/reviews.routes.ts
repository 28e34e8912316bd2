import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { decodeCursor, pageQuery, toPage } from '../../lib/http/paging.ts'
import { resourceRoutes, viewAsIs } from '../../lib/http/resource-routes.ts'
import { uuidParams } from '../../lib/http/schemas.ts'
import { hashOfName, type PendingTool } from '../../upstreams/review/tool-review.ts'
import type { Approval, UpstreamReviews } from '../../upstreams/review/upstream-reviews.ts'
import { ApproveChanges, ApprovedView, UpstreamChangesView } from './reviews.schema.ts'

const params = uuidParams

/** Characters of a name in a cursor, which is bounded; the hash distinguishes names with the same prefix. */
const CURSOR_CHARS = 100
const CURSOR = z.tuple([z.string(), z.string()])
type Position = z.infer<typeof CURSOR>

const positionOf = ({ name }: PendingTool): Position => [name.slice(0, CURSOR_CHARS).toWellFormed(), hashOfName(name)]

const compare = (a: Position, b: Position): number => {
  const [one, other] = a[0] === b[0] ? [a[1], b[1]] : [a[0], b[0]]
  return one < other ? -1 : one > other ? 1 : 0
}

const toApproval = (body: z.infer<typeof ApproveChanges>): Approval =>
  'version' in body ? body : { tools: body.tools.map(({ name, hash }) => ({ nameHash: hashOfName(name), hash })) }

/** Pending changes of an upstream whose server has changes reviewed, and their approval. */
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
        items: items.map(({ tool: { name, hash, before, after: now } }) => ({
          name,
          hash,
          before: before ?? null,
          after: now,
        })),
        nextCursor,
      }
    },
  )
  routes.perform(
    '/upstreams/:id/approve',
    { params, body: ApproveChanges },
    { schema: ApprovedView, toView: (approved: number) => ({ approved }) },
    ({ actor, params, body }) => upstreamReviews.approve(actor, params.id, toApproval(body)),
  )
}
