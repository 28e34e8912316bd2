import { expect, it } from 'vitest'
import { createTurns } from '../../../src/imports/reading/reading-turns.ts'

const MINUTE_MS = 60_000
const CREATORS = new Map([
  ['first', 'ada'],
  ['second', 'ada'],
  ['third', 'ada'],
  ['other', 'bob'],
])

/** Creates turns whose sources are read on demand, each of them in as long as the test says. */
const createWorld = () => {
  let time = 0
  const inTurn = createTurns(
    organizationId => CREATORS.get(organizationId),
    () => time,
  )
  const { signal } = new AbortController()
  const started: string[] = []
  const settle = () => new Promise(resolve => setImmediate(resolve))
  const read = (organizationId: string) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const over = inTurn(organizationId, signal, async () => {
      started.push(organizationId)
      await promise
    })
    return async (ms: number) => {
      time += ms
      resolve()
      await over
      await settle()
    }
  }
  return { started, settle, read }
}

it('lets creators take turns, however many organizations they have', async () => {
  const { started, settle, read } = createWorld()
  const [first, second, third, other] = ['first', 'second', 'third', 'other'].map(read)
  await settle()
  for (const end of [first, second, other, third]) await end?.(1_000)
  expect(started).toEqual(['first', 'second', 'other', 'third'])
})

it('lets everybody else go first after a source that took three minutes to read', async () => {
  const { started, settle, read } = createWorld()
  const [slow, alsoSlow, ...others] = ['first', 'second', 'other', 'other', 'nobody'].map(read)
  await settle()
  await slow?.(3 * MINUTE_MS)
  for (const at of [0, 2, 1]) await others[at]?.(10_000)
  await alsoSlow?.(3 * MINUTE_MS)
  expect(started).toEqual(['first', 'other', 'nobody', 'other', 'second'])
})
