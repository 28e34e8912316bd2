export { upstreamReviewRoutes } from './reviews.routes.ts'
export { hashOfName as nameHashOf, type WaitingTool } from './tool-review.ts'
export {
  approveWhatIsKept,
  createUpstreamReviews,
  type UpstreamReview,
  type UpstreamReviews,
} from './upstream-reviews.ts'
