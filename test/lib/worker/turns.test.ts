import { expect, it } from 'vitest'
import { createTurns, NoTurn } from '../../../src/lib/worker/turns.ts'

/** Work that ends when it is told to. */
const makeWorld = (maxAtOnce: number, { maxOfOwner = 1, maxWaitingOfOwner = 100, maxWaiting = 100 } = {}) => {
  let time = 0
  const turns = createTurns({ maxAtOnce, maxOfOwner, maxWaiting, maxWaitingOfOwner }, () => time)
  const begun: string[] = []
  const take = (owner: string, signal?: AbortSignal, group?: string) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const work = async () => {
      begun.push(owner)
      await promise
    }
    const over = turns.take(owner, work, signal, group)
    over.catch(() => {})
    return Object.assign(
      async () => {
        resolve()
        await over
        await settle()
      },
      { over },
    )
  }
  const settle = () => new Promise(resolve => setImmediate(resolve))
  const pass = (ms: number) => {
    time += ms
  }
  return { turns, begun, take, settle, pass }
}

it('one of each owner runs at a time', async () => {
  const { begun, take, settle } = makeWorld(2)
  const endFirst = take('a')
  take('a')
  take('b')
  take('c')
  await settle()
  expect(begun).toEqual(['a', 'b'])
  await endFirst()
  expect(begun).toEqual(['a', 'b', 'a'])
})

it('owners have their turns one after the other, however many one of them waits with', async () => {
  const { begun, take, settle } = makeWorld(1)
  const ends = ['a', 'a', 'a', 'b', 'b', 'c'].map(owner => take(owner))
  await settle()
  for (const at of [0, 1, 3, 5, 2, 4]) await ends[at]?.()
  expect(begun).toEqual(['a', 'a', 'b', 'c', 'a', 'b'])
})

it('a group with many owners has no more turns than one with few', async () => {
  const { begun, take, settle } = makeWorld(2)
  const ends = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2'].map(owner => take(owner, undefined, owner.slice(0, 1)))
  await settle()
  for (const at of [0, 1, 4, 2, 3, 5]) await ends[at]?.()
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'a4'])
})

it('where an owner may have several, the last one is free for others', async () => {
  const { begun, take, settle } = makeWorld(3, { maxOfOwner: 2 })
  for (const owner of ['a', 'a', 'a', 'b']) take(owner)
  await settle()
  expect(begun).toEqual(['a', 'a', 'b'])
})

it('who waits with too many, or when too many wait, is refused at once', async () => {
  const { take, settle } = makeWorld(1, { maxWaitingOfOwner: 2, maxWaiting: 3 })
  const all = ['a', 'a', 'a', 'a', 'b', 'c'].map(owner => take(owner).over)
  const refused: number[] = []
  for (const [index, over] of all.entries()) {
    over.catch(error => {
      if (error instanceof NoTurn) refused.push(index)
    })
  }
  await settle()
  expect(refused).toEqual([3, 5])
})

it('who gives up waiting leaves the turn to the next', async () => {
  const { begun, take, settle } = makeWorld(1)
  const end = new AbortController()
  const endFirst = take('a')
  const given = take('b', end.signal)
  take('c')
  await settle()
  end.abort()
  await expect(given.over).rejects.toThrow(NoTurn)
  await endFirst()
  expect(begun).toEqual(['a', 'c'])
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
  expect(begun).toEqual(['x', 'y', 'friend', 'z'])
})

it('work that fails gives its turn to the next', async () => {
  const { turns, begun, take, settle } = makeWorld(1)
  await expect(turns.take('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  take('a')
  await settle()
  expect(begun).toEqual(['a'])
})
