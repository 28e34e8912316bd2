export { upstreamReviewRoutes } from './reviews.routes.ts'
export type { WaitingTool } from './tool-review.ts'
export {
  type ApprovalWish,
  approveWhatIsKept,
  createUpstreamReviews,
  type ReviewedServer,
  type UpstreamReview,
  type UpstreamReviews,
} from './upstream-reviews.ts'
