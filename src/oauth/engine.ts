export { authorizationPages } from './authorization.pages.ts'
export { createAuthorizationServer } from './authorization-server.ts'
export { clientEndpoints } from './client-endpoints.ts'
