import { z } from 'zod'
import { pageOf } from '../../lib/http/paging.ts'

const definition = z.record(z.string(), z.json())

const PendingToolView = z.object({
  name: z.string().describe("the upstream's name of the tool"),
  hash: z.string().describe('hash of the pending definition, required to approve it'),
  before: definition.nullable().describe('the definition in use until then; null for a new tool'),
  after: definition.describe('the pending definition'),
})

export const UpstreamChangesView = pageOf(PendingToolView).extend({
  reviewed: z.boolean().describe('whether changes of upstreams are reviewed on this server'),
  version: z.string().describe('version of all pending changes, required to approve them together'),
  total: z.int(),
})

/** To approve more at once, send their version. */
const MAX_APPROVED_BY_NAME = 500

export const ApproveChanges = z.union(
  [
    z.strictObject({
      version: z.string().max(100).describe('approves all pending changes, if they are still those of this version'),
    }),
    z.strictObject({
      tools: z
        .array(z.strictObject({ name: z.string().max(2_048), hash: z.string().max(100) }))
        .min(1, 'must contain at least one tool')
        .max(MAX_APPROVED_BY_NAME, `must contain at most ${MAX_APPROVED_BY_NAME} tools`),
    }),
  ],
  'must contain either version, or tools with their hashes',
)

export const ApprovedView = z.object({ approved: z.int().describe('number of tools') })
