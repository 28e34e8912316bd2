export { createTokenCounter, type TokenCounter } from './token-counter.ts'
export { createTokenWork, type TokenWork } from './token-work.ts'
