export { createUpstreamExchange, type UpstreamExchange } from './upstream-exchange.ts'
