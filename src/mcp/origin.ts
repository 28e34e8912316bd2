import type { createOriginPolicy } from '../lib/http/origins.ts'

/** Which pages and names may be used to reach us (basic/transports, "Security Warning"). */
export type OriginPolicy = ReturnType<typeof createOriginPolicy>
