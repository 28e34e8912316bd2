export {
  type AccessPolicy,
  type AccessRefusal,
  type AuthorizeServer,
  type Caller,
  createServerAccess,
  type McpPrincipal,
  policyOf,
  type VerifyMcpToken,
} from './access.ts'
export { bindingOf, explainSecretAtRisk, fillFixedValue, findSecretAtRisk, globalKeysOf } from './bindings.ts'
export { readBlueprint } from './blueprint.store.ts'
export { createGlobalService, type GlobalService, globalSealContext } from './globals.service.ts'
export { listGlobals, listSealingKeyIds } from './globals.store.ts'
export { instanceRoutes } from './instances.routes.ts'
export { createInstanceService, type InstanceService } from './instances.service.ts'
export type { AccessTier, Binding, Bindings, Global, Instance, Server, ServerBlueprint } from './server.ts'
export { deriveServerChanges } from './server-changes.ts'
export { serverRoutes } from './servers.routes.ts'
export { createServerService, getServerFor, type ServerService } from './servers.service.ts'
export { exposedSchemaOf, serverUrl } from './servers.view.ts'
export { createToolkitUseService, type ToolkitUseService } from './toolkit-uses.service.ts'
export { uses } from './toolkit-uses.store.ts'
