export { createOAuthTokens } from './access-tokens.ts'
export { endGrantsOf } from './grants-of-user.store.ts'
