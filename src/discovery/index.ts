export { discoveryRoutes } from './discovery.routes.ts'
export { openDocumentRoutes } from './open-documents.routes.ts'
