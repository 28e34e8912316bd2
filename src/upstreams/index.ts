export {
  type CallLink,
  findLogLevel,
  isLevelWanted,
  type LogLevel,
  type RequestState,
  type SessionPeer,
  type StatelessPeer,
} from './call-link.ts'
export {
  askUpstream,
  callUpstreamTool,
  explainUpstreamFault,
  findConnectUrl,
  findUpstreamRefusal,
  toUpstreamToolCall,
  type UpstreamToolCall,
} from './call-upstream-tool.ts'
export { createUpstreamCatalogues, removeHidden, type UpstreamCatalogues } from './catalogue/index.ts'
export {
  type ConnectionLimits,
  createStdioProcesses,
  type UpstreamConnection,
  UpstreamError,
} from './connection/index.ts'
export { createUpstreamExchange, passAddressesOn, type UpstreamExchange } from './exchange/index.ts'
export { assertGlobalMayChange, listUpstreamsReferringTo } from './global-uses.ts'
export {
  clientDocumentRoutes,
  connectPages,
  createUpstreamAccounts,
  createUpstreamOAuth,
  listUpstreamSealingKeyIds,
  ownUpstreamAccountPages,
  upstreamAccountRoutes,
} from './oauth/index.ts'
export type { Place } from './passthrough/balancer.ts'
export { MAX_BALANCED_SERVERS, MAX_REMEMBERED_SESSIONS } from './passthrough/limits.ts'
export { createPassthroughs, type Passthroughs, type PassthroughWay } from './passthrough/passthroughs.ts'
export { explainUnpassable } from './passthrough/rules.ts'
export { sessionKey } from './passthrough/session-key.ts'
export { type PassthroughTarget, pathAt, suffixOf } from './passthrough/target.ts'
export { listAllowedTools, type PresentedTool, presentTools, type UpstreamSource } from './present-tools.ts'
export { presentedName } from './presented-name.ts'
export { approveWhatIsKept, createUpstreamReviews, type UpstreamReviews, upstreamReviewRoutes } from './review/index.ts'
export { createStateDigest } from './state-digest.ts'
export { findToolAnswers, hasToolAnswers, ToolAnswersRules } from './tool-answers.ts'
export { isToolAllowed } from './tool-patterns.ts'
export { upstreamPages } from './upstream.pages.ts'
export { isPerCaller, type ToolAnswers, type Upstream, type UpstreamFeatures, type UpstreamState } from './upstream.ts'
export { createUpstreamConnections, type UpstreamConnections } from './upstream-connections.ts'
export { createUpstreamLoading } from './upstream-loading.ts'
export { createUpstreamOffers, type PresentedUpstream, type UpstreamOffers } from './upstream-offers.ts'
export { createUpstreamOutages, type UpstreamOutages } from './upstream-outages.ts'
export { toUpstreamRow } from './upstream-page.view.ts'
export { upstreamPath, upstreamToolPath } from './upstream-path.ts'
export { createToolCounts } from './upstream-tool-counts.ts'
export { upstreamRoutes } from './upstreams.routes.ts'
export type { UpstreamInput, UpstreamService } from './upstreams.service.ts'
export { createUpstreamService } from './upstreams.service.ts'
export { listAllUpstreams } from './upstreams.store.ts'
