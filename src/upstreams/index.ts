export { assertGlobalMayChange } from './global-uses.ts'
export { restingState } from './upstream.ts'
export { upstreamRoutes } from './upstreams.routes.ts'
export { createUpstreamService } from './upstreams.service.ts'
