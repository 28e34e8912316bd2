// A process that checks calls against a limit, on the database whose URL is the argument. Reads lines
// `{"limit", "now", "calls"}`, tries so many calls at once at that time, and prints how many of them may start.
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { openDatabase } from '../../src/lib/db/client.ts'
import { parseDatabaseUrl } from '../../src/lib/db/target.ts'
import { createCallAdmission } from '../../src/limits/call-admission.ts'
import { LIMIT_SCOPES, LIMIT_UNITS } from '../../src/limits/limit.ts'
import { createLimitUses } from '../../src/limits/limit-uses.store.ts'
import { createMeters } from '../../src/limits/meters.ts'
import { LIMIT_PERIODS } from '../../src/limits/period.ts'

const Limit = z.object({
  id: z.string(),
  organizationId: z.string(),
  scope: z.enum(LIMIT_SCOPES),
  targetId: z.undefined().optional(),
  unit: z.enum(LIMIT_UNITS),
  period: z.enum(LIMIT_PERIODS),
  amount: z.number(),
})
const Command = z.object({ limit: Limit, now: z.number(), calls: z.number() })

const target = parseDatabaseUrl(process.argv[2] ?? '')
if (!target.ok) throw new Error(target.error)

let now = 0
const db = await openDatabase(target.value)
const meters = createMeters({
  uses: createLimitUses(db, () => now),
  databaseHealth: { whileReachable: work => work() },
  onLevel: () => {},
  clock: () => now,
})
const admission = createCallAdmission(meters)

const CALL = { serverId: 's', toolId: 'any', userId: undefined, tokenId: undefined, price: 0 }
const mayStart = async (organizationId: string): Promise<boolean> => {
  const admitted = await admission.admit({ ...CALL, organizationId })
  return admitted === undefined || !('refusal' in admitted)
}

process.stdout.write('ready\n')
for await (const line of createInterface({ input: process.stdin })) {
  const { limit, calls, ...at } = Command.parse(JSON.parse(line))
  now = at.now
  const times = { createdAt: new Date(now), updatedAt: new Date(now) }
  admission.replace([{ ...limit, targetId: undefined, ...times }], limit.organizationId)
  const started = await Promise.all(Array.from({ length: calls }, () => mayStart(limit.organizationId)))
  process.stdout.write(`${started.filter(Boolean).length}\n`)
}
await meters.close()
await db.close()
