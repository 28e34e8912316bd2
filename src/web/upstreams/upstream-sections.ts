import { z } from 'zod'
import { formText } from '../../lib/http/pages/forms.ts'
import { pageNumber, takePage } from '../../lib/http/pages/pager.ts'
import { exactTime } from '../../lib/http/pages/time-text.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { formatCount } from '../../lib/kernel/format.ts'
import type { TokenCounterFor } from '../../lib/tokens/token-counter.ts'
import type { UpstreamOffers } from '../../upstreams/catalogue/upstream-offers.ts'
import type { LogLine } from '../../upstreams/connection/output-log.ts'
import type { UpstreamConnections } from '../../upstreams/connection/upstream-connections.ts'
import type { PendingTool } from '../../upstreams/review/tool-review.ts'
import type { UpstreamReviews } from '../../upstreams/review/upstream-reviews.ts'
import type { Upstream } from '../../upstreams/upstream.ts'
import {
  OFFER_LISTS,
  OFFERED_PER_PAGE,
  searchOffered,
  summarizeOffer,
  toFetched,
  toFindings,
  toOfferedRows,
  toOfferTabs,
} from './upstream-offer.view.ts'
import { CHANGES_PER_PAGE, toReviewedTool, toWaitingHead } from './upstream-waiting.view.ts'

export type UpstreamSectionsParts = {
  upstreamOffers: UpstreamOffers
  upstreamReviews: Pick<UpstreamReviews, 'getReview'>
  upstreamConnections: Pick<UpstreamConnections, 'logOf' | 'countDroppedMessages'>
  tokenCounterFor: TokenCounterFor
}

/** Maximum log lines on the page. The newest lines are shown. */
const MAX_SHOWN_LINES = 200

const LISTS = OFFER_LISTS.map(([list]) => list)
export const SectionsQuery = z.object({
  list: z.enum(LISTS).catch('tools'),
  q: formText.transform(text => text.slice(0, 200).trim()),
  page: pageNumber,
  waiting: pageNumber,
  rejected: pageNumber,
})
type Query = z.infer<typeof SectionsQuery>

/** Returns the newest lines of a log, or undefined if it is empty. */
export const toLog = (lines: readonly LogLine[]) =>
  lines.length === 0
    ? undefined
    : {
        lines: lines.slice(-MAX_SHOWN_LINES).map(({ at, source, text }) => ({
          time: { at: at.toISOString(), text: at.toISOString().slice(11, 19) },
          source,
          text,
        })),
        note: lines.length > MAX_SHOWN_LINES ? `The newest ${formatCount(MAX_SHOWN_LINES, 'line')}` : undefined,
        newest: exactTime(lines.at(-1)?.at ?? new Date(0)),
      }

/**
 * Creates the sections of an upstream's page other than its settings: tools to approve, catalogue, findings and log.
 */
export const createUpstreamSections =
  ({ upstreamOffers, upstreamReviews, upstreamConnections, tokenCounterFor }: UpstreamSectionsParts) =>
  async (actor: Actor, upstream: Upstream, path: string, { list, q, page, waiting, rejected }: Query) => {
    const review = await upstreamReviews.getReview(actor, upstream.id)
    const stored = await upstreamOffers.find(upstream)
    const skipped = (await upstreamOffers.listSkipped(upstream.serverId)).get(upstream.id) ?? []
    const fates = {
      skipped,
      waiting: new Map(review.waiting.map(({ name, before }) => [name, { isNew: before === undefined }])),
      rejected: new Map(review.rejected.map(({ name, before }) => [name, { isNew: before === undefined }])),
    }
    const head = toWaitingHead(review)
    const pageOf = (tools: readonly PendingTool[], name: string, page: number) => {
      const part = takePage(tools, { page, perPage: CHANGES_PER_PAGE, path, query: {}, name })
      return { tools: part.shown.map(toReviewedTool), pager: part.pager }
    }
    const found = stored === undefined ? [] : searchOffered(stored, list, q)
    const listQuery = { ...(list === 'tools' ? {} : { list }), ...(q === '' ? {} : { q }) }
    const countTokens = tokenCounterFor(actor.userId)
    const shown = takePage(found, { page, perPage: OFFERED_PER_PAGE, path, query: listQuery })
    return {
      waiting: head && { ...head, upstreamId: upstream.id, ...pageOf(review.waiting, 'waiting', waiting) },
      rejected:
        review.rejected.length === 0
          ? undefined
          : {
              count: formatCount(review.rejected.length, 'rejected change'),
              isOpen: rejected > 1,
              ...pageOf(review.rejected, 'rejected', rejected),
            },
      summary: stored && summarizeOffer(stored),
      offer: stored && {
        list,
        search: q,
        tabs: toOfferTabs(stored, list, path),
        rows: await toOfferedRows(upstream, stored, { list, items: shown.shown, fates, countTokens }),
        pager: shown.pager,
        fetched: toFetched(stored),
      },
      findings: toFindings(stored, skipped, upstreamConnections.countDroppedMessages(upstream.id)),
      log: toLog(upstreamConnections.logOf(upstream.id)),
    }
  }
