export { countTokens, TOKEN_ENCODING } from './tokens.ts'
