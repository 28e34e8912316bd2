import type { createOriginPolicy } from '../platform/http/index.ts'

/** Which pages and names may be used to reach us (basic/transports, "Security Warning"). */
export type OriginPolicy = ReturnType<typeof createOriginPolicy>
