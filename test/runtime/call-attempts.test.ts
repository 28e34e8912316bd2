import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { makeServer } from '../support/api-client.ts'
import { databasesOfRun } from '../support/databases.ts'
import { answerJson } from '../support/fake-api.ts'
import { runFakeApi, runPatchbay } from '../support/world.ts'

const Timing = z.record(z.string(), z.number().nullable())
const Attempt = z.object({
  startMs: z.number(),
  durationMs: z.number(),
  status: z.int().nullable(),
  failure: z.string().nullable(),
})
const Call = z.object({
  id: z.string(),
  durationMs: z.number(),
  result: z.string(),
  status: z.int().nullable(),
  error: z.string().nullable(),
  timing: Timing.nullable(),
  attempts: z.array(Attempt).nullable(),
})
const History = z.object({ items: z.array(Call) })
const Result = z.object({ content: z.array(z.object({ text: z.string() })), isError: z.boolean().optional() })

const PHASES = ['resolveMs', 'queueMs', 'dnsMs', 'connectMs', 'firstByteMs', 'bodyMs', 'shapeMs']
const measuredOf = ({ timing }: z.infer<typeof Call>): string[] =>
  PHASES.filter(phase => (timing?.[phase] ?? null) !== null)

describe.each(databasesOfRun)('a call of a tool, on $kind', kind => {
  const patchbay = runPatchbay({ kind })
  /** The statuses of the next responses. 0 closes the connection. */
  let statuses: number[] = []
  const fake = runFakeApi((_, response, { socket }) => {
    const status = statuses.shift() ?? 200
    if (status === 0) socket.resetAndDestroy()
    else answerJson(response, { status }, status)
  })

  const make = async (tool: Record<string, unknown>) => {
    const builder = await patchbay.person()
    const { serverId, instanceIds } = await makeServer(builder, [
      { name: 'tool', method: 'GET', url: `${fake.origin}/`, ...tool },
    ])
    return {
      builder,
      call: async () => {
        const { body } = await builder.expectOk('POST', `/instances/${instanceIds.tool}/call`, { arguments: {} })
        return Result.parse(body)
      },
      /** Returns the newest call as its own page in the API has it. */
      newest: async () => {
        await patchbay.services.recorder.flush()
        const { body } = await builder.expectOk('GET', `/servers/${serverId}/executions`)
        const id = History.parse(body).items[0]?.id ?? ''
        return Call.parse((await builder.expectOk('GET', `/executions/${id}`)).body)
      },
    }
  }

  it('has the time of each phase in the history, which are together no longer than the call', async () => {
    const { call, newest } = await make({})
    await call()
    const first = await newest()
    expect(measuredOf(first)).toEqual(expect.arrayContaining(['resolveMs', 'firstByteMs', 'bodyMs', 'shapeMs']))
    const sum = Object.values(first.timing ?? {}).reduce<number>((total, ms) => total + (ms ?? 0), 0)
    // Each is rounded to a microsecond.
    expect(sum).toBeLessThanOrEqual(first.durationMs + 0.01)
    expect(first.attempts).toBeNull()
  })

  it('has both in the result of trying the tool', async () => {
    const builder = await patchbay.person()
    const { toolIds } = await makeServer(builder, [{ name: 'tool', method: 'GET', url: `${fake.origin}/`, retries: 1 }])
    statuses = [503]
    const { body } = await builder.expectOk('POST', `/tools/${toolIds.tool}/test`, { arguments: {} })
    const { timing, attempts } = z.object({ timing: Timing, attempts: z.array(Attempt) }).parse(body)
    expect(timing.firstByteMs).toBeGreaterThan(0)
    expect(attempts.map(({ status }) => status)).toEqual([503, 200])
  })

  it('has only the phases that took place', async () => {
    const { builder, call, newest } = await make({ cacheSeconds: 60, annotations: { readOnlyHint: true } })
    await call()
    await call()
    expect(measuredOf(await newest())).toEqual(['resolveMs'])
    const { serverId, instanceIds } = await makeServer(builder, [
      { name: 'needy', method: 'GET', url: `${fake.origin}/{{id}}` },
    ])
    await builder.expectOk('POST', `/instances/${instanceIds.needy}/call`, { arguments: {} })
    const { body } = await builder.expectOk('GET', `/servers/${serverId}/executions`)
    const [refused] = History.parse(body).items
    expect(refused && [refused.result, measuredOf(refused)]).toEqual(['invalid_arguments', ['resolveMs']])
  })

  it('that is repeated has all its attempts in the history', async () => {
    const { call, newest } = await make({ retries: 3 })
    statuses = [503, 0, 200]
    expect((await call()).isError).toBeUndefined()
    const { attempts, status } = await newest()
    expect(status).toBe(200)
    expect(attempts?.map(attempt => attempt.status ?? attempt.failure)).toEqual([
      503,
      'the reused connection had been closed',
      200,
    ])
    const starts = attempts?.map(({ startMs }) => startMs) ?? []
    expect(starts).toEqual(starts.toSorted((one, other) => one - other))
  })

  it('is not repeated unless its builder says so', async () => {
    const { call, newest } = await make({})
    const before = fake.seen.length
    statuses = [503]
    expect((await call()).isError).toBe(true)
    expect(fake.seen.length - before).toBe(1)
    expect(await newest()).toMatchObject({ status: 503, attempts: null })
  })

  it('fails at once, and says why, if the API failed ten times in a row', async () => {
    const { builder, call, newest } = await make({})
    statuses = Array.from({ length: 10 }, () => 502)
    for (let count = 0; count < 10; count++) await call()
    const before = fake.seen.length
    const { content, isError } = await call()
    const { host } = new URL(fake.origin)
    expect([content[0]?.text, isError]).toEqual([
      expect.stringMatching(
        `^The request failed: ${host} failed 10 times in a row, the last time because it responded with 502; Patchbay tries it again in [\\d.]+ m?s \\(after \\d+ ms\\)\\.$`,
      ),
      true,
    ])
    expect(fake.seen).toHaveLength(before)
    expect(await newest()).toMatchObject({ result: 'failed', status: null, error: content[0]?.text })
    // Another organization is not concerned.
    const other = await make({})
    expect((await other.call()).isError).toBeUndefined()
    expect(builder).not.toBe(other.builder)
  })
})

describe('the number of calls that an organization can have in progress at an origin', () => {
  const patchbay = runPatchbay({ env: { PATCHBAY_MAX_CALLS_PER_ORIGIN: '2' } })
  const held: ServerResponse[] = []
  const fake = runFakeApi((_, response) => void held.push(response))

  it('is a setting', async () => {
    const builder = await patchbay.person()
    const { instanceIds } = await makeServer(builder, [{ name: 'tool', method: 'GET', url: `${fake.origin}/` }])
    const call = async () =>
      Result.parse((await builder.expectOk('POST', `/instances/${instanceIds.tool}/call`, { arguments: {} })).body)
    const calls = [call(), call()]
    await expect.poll(() => held).toHaveLength(2)
    expect(await call()).toMatchObject({
      content: [{ text: expect.stringContaining('2 requests of your organization to') }],
      isError: true,
    })
    for (const response of held) answerJson(response, {})
    await Promise.all(calls)
  })
})
