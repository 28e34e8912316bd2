export {
  type AccessPolicy,
  type Caller,
  checkUserAccess,
  createServerAccess,
  isLetIn,
  type McpPrincipal,
  policyOf,
  type VerifyMcpToken,
} from './access.ts'
export { bindingsPages } from './bindings.pages.ts'
export { bindingOf, explainSecretAtRisk, fillFixedValue, findSecretAtRisk } from './bindings.ts'
export { readBlueprint } from './blueprint.store.ts'
export { toCatalogueSentence } from './catalogue.view.ts'
export { clientNameOf } from './client-name.ts'
export { CACHE_ID_PLACE } from './context-rules.ts'
export { findReportSoon } from './find-report-soon.ts'
export { globalsPages } from './globals.pages.ts'
export { createGlobalService } from './globals.service.ts'
export { listGlobals, listSealingKeyIds } from './globals.store.ts'
export { holdings } from './holdings.store.ts'
export { instancePages } from './instance.pages.ts'
export { instanceRoutes } from './instances.routes.ts'
export { createInstanceService, type InstanceService } from './instances.service.ts'
export { listInstancesOfTool, listNamesAtWork } from './instances.store.ts'
export { createGlobalOpener, openGlobal } from './open-globals.ts'
export { findPeople } from './people.store.ts'
export { createRewiringService } from './rewiring.service.ts'
export type { AccessTier, Bindings, Global, Instance, Presentation, Server, ServerBlueprint } from './server.ts'
export { ACCESS_TIERS } from './server.ts'
export { listServerCards, type ServerCard } from './server-cards.store.ts'
export { deriveServerChanges } from './server-changes.ts'
export {
  getServerFrame,
  liveTextOf,
  type ServerFrame,
  type ServerFrameParts,
  serverTabPath,
} from './server-frame.ts'
export { countAllServers, listServerNames, listServersThere } from './server-names.store.ts'
export { createServerRemoval } from './server-removal.ts'
export { createServerTab } from './server-tab.ts'
export { findServerToCall } from './server-to-call.ts'
export { type BoundParameter, createServerWiring, type ServerWiring } from './server-wiring.ts'
export { serverRoutes } from './servers.routes.ts'
export { CreateServer } from './servers.schema.ts'
export { assertOwnOrManaged, createServerService, getServerFor, type ServerService } from './servers.service.ts'
export { exposedSchemaOf } from './servers.view.ts'
export { settingsPages } from './settings.pages.ts'
export { explainShownAs, type ShownAs } from './shown-as.ts'
export { sourcesPages } from './sources.pages.ts'
export { tableSettingsPages } from './table-settings.pages.ts'
export { toolAddingPages } from './tool-adding.pages.ts'
export { createToolAdding } from './tool-adding.service.ts'
export { listToolOffers, type ToolOffer } from './tool-offers.store.ts'
export { createToolkitUseService, type ToolkitUseService } from './toolkit-uses.service.ts'
export { uses } from './toolkit-uses.store.ts'
export { serverToolsPages } from './tools.pages.ts'
export { serverTransferRoutes } from './transfer.routes.ts'
export { createServerTransfer } from './transfer.service.ts'
