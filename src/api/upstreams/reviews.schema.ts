import { z } from 'zod'
import { pageOf } from '../../lib/http/paging.ts'

const definition = z.record(z.string(), z.json())

const WaitingToolView = z.object({
  name: z.string().describe('as the upstream has it'),
  hash: z.string().describe('of what waits: to be sent along when it is approved'),
  before: definition.nullable().describe('what is live meanwhile; null of a tool that is new'),
  after: definition.describe('what the upstream declares now'),
})

/** A page of what waits. */
export const UpstreamChangesView = pageOf(WaitingToolView).extend({
  reviewed: z.boolean().describe('whether the server has changes reviewed at all'),
  version: z.string().describe('of all that waits: to be sent along when all of it is approved'),
  total: z.int(),
})

/** More at once are approved by their version. */
const MAX_APPROVED_BY_NAME = 500

export const ApproveChanges = z.union(
  [
    z.strictObject({
      version: z.string().max(100).describe('approves all that waits, where it is still what was seen'),
    }),
    z.strictObject({
      tools: z
        .array(z.strictObject({ name: z.string().max(2_048), hash: z.string().max(100) }))
        .min(1, 'names no tool')
        .max(MAX_APPROVED_BY_NAME, `names more than ${MAX_APPROVED_BY_NAME} tools`),
    }),
  ],
  'must say either version, or tools with the hash of each',
)

export const ApprovedView = z.object({ approved: z.int().describe('how many tools') })
