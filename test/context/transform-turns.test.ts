import { expect, it } from 'vitest'
import { createTurns } from '../../src/context/transform/turns.ts'

/** Work that ends when it is told to. */
const makeWorld = (maxAtOnce: number) => {
  let time = 0
  const turns = createTurns(maxAtOnce, () => time)
  const begun: string[] = []
  const take = (owner: string) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const over = turns.take(owner, async () => {
      begun.push(owner)
      await promise
    })
    return async () => {
      resolve()
      await over
    }
  }
  const settle = () => new Promise(resolve => setImmediate(resolve))
  const pass = (ms: number) => {
    time += ms
  }
  return { turns, begun, take, settle, pass }
}

it('one of each owner runs at a time, the others in the order they came', async () => {
  const { begun, take, settle } = makeWorld(2)
  const endFirst = take('a')
  take('a')
  take('b')
  take('c')
  await settle()
  expect(begun).toEqual(['a', 'b'])
  await endFirst()
  await settle()
  expect(begun).toEqual(['a', 'b', 'a'])
})

it('owners whose work had to be ended share half of the turns for a minute, and others find one free', async () => {
  const { turns, begun, take, settle, pass } = makeWorld(4)
  for (const owner of ['x', 'y', 'z']) turns.suspect(owner)
  const endFirst = take('x')
  for (const owner of ['y', 'z', 'friend']) take(owner)
  await settle()
  expect(begun).toEqual(['x', 'y', 'friend'])
  pass(60_001)
  await endFirst()
  await settle()
  expect(begun).toEqual(['x', 'y', 'friend', 'z'])
})

it('work that fails gives its turn to the next', async () => {
  const { turns, begun, take, settle } = makeWorld(1)
  await expect(turns.take('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  take('a')
  await settle()
  expect(begun).toEqual(['a'])
})
