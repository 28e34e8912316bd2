export { passAddressesOn } from './asked-addresses.ts'
export { createUpstreamExchange, type UpstreamExchange } from './upstream-exchange.ts'
