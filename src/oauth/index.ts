export { createOAuthTokens } from './access-tokens.ts'
