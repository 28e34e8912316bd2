export { upstreamReviewRoutes } from './reviews.routes.ts'
export { hashOfName as nameHashOf, type WaitingTool } from './tool-review.ts'
export {
  type ApprovalWish,
  approveWhatIsKept,
  createUpstreamReviews,
  type ReviewedServer,
  type UpstreamReview,
  type UpstreamReviews,
} from './upstream-reviews.ts'
