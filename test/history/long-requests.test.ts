import { expect, it } from 'vitest'
import { z } from 'zod'
import { makeServer, signUp } from '../support/api-client.ts'
import { runFakeApi, runPatchbay } from '../support/world.ts'

const patchbay = runPatchbay()
const fake = runFakeApi()

const Header = z.object({ name: z.string(), value: z.string() })
const Kept = z.object({ url: z.string(), headers: z.array(Header), body: z.string() })
const History = z.object({ items: z.tuple([z.object({ request: Kept })]) })

it('keeps only the start of a long URL, of long headers, of many headers and of a long body in the history', async () => {
  const builder = await signUp(patchbay.origin)
  const headers = Array.from({ length: 20 }, (_, at) => ({ name: `x-${at}`, value: '{{string:header}}' }))
  const { serverId, instanceIds } = await makeServer(builder, [
    { name: 'tool', method: 'POST', url: `${fake.origin}/?q={{q}}`, headers, body: '{"text": {{text}}}' },
  ])
  const args = { q: 'q'.repeat(5_000), header: 'h'.repeat(900), text: 't'.repeat(20_000) }
  const call = (changes: object) =>
    builder.expectOk('POST', `/instances/${instanceIds.tool}/call`, { arguments: { ...args, ...changes } })
  const readKept = async () => {
    await patchbay.services.recorder.flush()
    const { body } = await builder.expectOk('GET', `/servers/${serverId}/executions?limit=1`)
    return History.parse(body).items[0].request
  }

  await call({})
  const kept = await readKept()
  expect(kept.url).toMatch(/^http.*q…$/)
  expect(kept.url).toHaveLength(4_097)
  expect(kept.body).toMatch(/^\{"text": ?"t+…$/)
  expect(kept.body).toHaveLength(16_385)
  expect(kept.headers).toHaveLength(19)
  expect(kept.headers[17]).toEqual({ name: 'x-17', value: args.header })
  expect(kept.headers[18]).toEqual({ name: '…', value: '' })

  await call({ header: 'h'.repeat(1_100) })
  expect((await readKept()).headers[0]?.value).toBe(`${'h'.repeat(1_024)}…`)
})
