export { createDatabaseCounters } from './counters.store.ts'
export { type Counters, createMemoryCounters } from './counters.ts'
export { networkOf } from './network.ts'
