export { discoveryRoutes } from './discovery.routes.ts'
