import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { createJobPool, type JobPool } from '../../src/jobs/job-pool.ts'
import { JOBS } from '../../src/jobs/jobs.ts'
import type { JsonObject } from '../../src/lib/kernel/json.ts'
import type { CatalogueFlag } from '../../src/upstreams/catalogue/catalogue.ts'
import { dropBadOutputSchemas } from '../../src/upstreams/catalogue/output-schemas.ts'
import { BUILT_JOBS } from '../support/built-jobs.ts'
import { MEMORY } from '../support/jobs.ts'
import { runPatchbay, runUser } from '../support/world.ts'
import { runScriptedUpstreams } from './scripted-upstream.ts'

/** Names of properties or patterns. Compiling 1,000 patterns takes a fifth of a second, and 3,000 take two seconds. */
const names = (length: number): JsonObject =>
  Object.fromEntries(Array.from({ length }, (_, index) => [`a${index}`, true]))
const SLOW: JsonObject = { type: 'object', additionalProperties: false, patternProperties: names(1_000) }
const BROKEN: JsonObject = { type: 'object', properties: { ...names(300), lost: { $ref: '#/$defs/missing' } } }
const TREE: JsonObject = { type: 'object', properties: { child: { $ref: '#' } } }
const LOST = "its outputSchema cannot be compiled: can't resolve reference #/$defs/missing from id #; left out"

const tool = (name: string, outputSchema: JsonObject): JsonObject & { name: string } => ({
  name,
  inputSchema: { type: 'object' },
  outputSchema,
})

let pool: JobPool
beforeAll(() => {
  pool = createJobPool({ memory: MEMORY, worker: BUILT_JOBS })
})
afterAll(() => pool.close())

/** Checks the output schemas of tools as a refresh does. `sandboxed` contains the schemas compiled in the sandbox. */
const check = async (
  tools: readonly (JsonObject & { name: string })[],
  workers = pool,
  signal = new AbortController().signal,
) => {
  const job = workers.job('compile-output-schemas')
  const sandboxed: JsonObject[] = []
  const run: typeof job.run = (owner, schemas, options) => {
    sandboxed.push(...schemas)
    return job.run(owner, schemas, options)
  }
  const flags: CatalogueFlag[] = []
  const items = tools.map(declared => ({ name: declared.name, declared }))
  const checked = await dropBadOutputSchemas(items, flags, { owner: 'one', group: 'one', signal }, { ...job, run })
  const kept = checked.filter(({ declared }) => declared.outputSchema !== undefined).map(({ name }) => name)
  return { sandboxed, kept, messages: flags.map(({ item, message }) => `${item}: ${message}`) }
}

it('large output schemas of an upstream are compiled in the sandbox, small ones at once', async () => {
  const tools = [tool('slow', SLOW), tool('broken', BROKEN), tool('tree', TREE), tool('plain', { type: 'object' })]
  expect(await check(tools)).toEqual({
    sandboxed: [SLOW, BROKEN],
    kept: ['slow', 'tree', 'plain'],
    messages: [`broken: ${LOST}`],
  })
})

it('output schemas that take too long to compile are left out; small ones stay', async () => {
  const jobs = { ...JOBS, 'compile-output-schemas': { ...JOBS['compile-output-schemas'], timeLimitMs: 50 } }
  const hasty = createJobPool({ jobs, memory: MEMORY, worker: BUILT_JOBS })
  const { kept, messages } = await check([tool('slow', SLOW), tool('plain', { type: 'object' })], hasty)
  await hasty.close()
  expect(kept).toEqual(['plain'])
  expect(messages).toEqual([
    'slow: its outputSchema takes longer than 50 ms to compile, alone or with the other large ones; left out',
  ])
})

it('a check that is cancelled fails, and leaves nothing out', async () => {
  await expect(check([tool('slow', SLOW)], pool, AbortSignal.abort())).rejects.toThrow('could not be checked in time')
})

const Offer = z.object({
  tools: z.array(z.string()),
  flags: z.array(z.object({ item: z.string(), message: z.string() })),
})
const patchbay = runPatchbay()
const operator = runUser(patchbay)
const scripted = runScriptedUpstreams({ odd: { tools: () => [tool('slow', SLOW), tool('broken', BROKEN)] } })

it('a refresh reports the large output schemas that cannot be compiled', async () => {
  const { id } = await operator.create('/servers', { name: 'Odd', access: 'public' })
  const wanted = { name: 'odd', transport: 'http', url: scripted.urlOf('odd') }
  const upstream = await operator.create(`/servers/${id}/upstreams`, wanted)
  const { body } = await operator.expectOk('POST', `/upstreams/${upstream.id}/refresh`)
  expect(Offer.parse(body)).toEqual({ tools: ['broken', 'slow'], flags: [{ item: 'broken', message: LOST }] })
})
