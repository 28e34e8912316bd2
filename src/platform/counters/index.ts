export { createDatabaseCounters } from './counters.store.ts'
export { type Counters, createMemoryCounters } from './counters.ts'
