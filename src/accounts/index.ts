export { accountRoutes } from './accounts.routes.ts'
export { createAccountService } from './accounts.service.ts'
export { createSessionStore } from './sessions.store.ts'
