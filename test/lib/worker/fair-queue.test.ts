import { expect, it } from 'vitest'
import { AbortedError, createFairQueue, QueueFullError, type QueueLimits } from '../../../src/lib/worker/fair-queue.ts'

/** Creates a queue whose jobs end on demand. Tenants are written as `creator:group.owner` or `group.owner`. */
const createWorld = (maxRunning: number, limits: Partial<QueueLimits> = {}) => {
  let time = 0
  const most = { maxRunning, maxRunningOfOwner: 1, maxRunningOfGroup: maxRunning }
  const waiting = { maxWaiting: 100, maxWaitingOfOwner: 100, maxWaitingOfGroup: 100 }
  const queue = createFairQueue({ ...most, ...waiting, ...limits }, () => time)
  const started: string[] = []
  const settle = () => new Promise(resolve => setImmediate(resolve))
  const run = (owner: string, signal?: AbortSignal) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const work = async () => {
      started.push(owner)
      await promise
    }
    const group = owner.split('.')[0] ?? owner
    const creator = owner.includes(':') ? owner.split(':')[0] : undefined
    const over = queue.run({ owner, group, creator }, work, signal)
    over.catch(() => {})
    const end = async () => {
      resolve()
      await over
      await settle()
    }
    return Object.assign(end, { over })
  }
  const pass = (ms: number) => {
    time += ms
  }
  return { queue, started, run, settle, pass }
}

it('says how much work runs and waits', async () => {
  const { queue, run, settle } = createWorld(2)
  const endFirst = run('a')
  for (const owner of ['a', 'b', 'c']) run(owner)
  await settle()
  expect(queue.counts()).toEqual({ running: 2, waiting: 2 })
  await endFirst()
  expect(queue.counts()).toEqual({ running: 2, waiting: 1 })
})

it('runs one of each owner at a time', async () => {
  const { started, run, settle } = createWorld(2)
  const endFirst = run('a')
  for (const owner of ['a', 'b', 'c']) run(owner)
  await settle()
  expect(started).toEqual(['a', 'b'])
  await endFirst()
  expect(started).toEqual(['a', 'b', 'a'])
})

it('gives owners their turns one after the other, however much one of them has waiting', async () => {
  const { started, run, settle } = createWorld(1)
  const ends = ['a', 'a', 'a', 'b', 'b', 'c'].map(owner => run(owner))
  await settle()
  for (const at of [0, 1, 3, 5, 2, 4]) await ends[at]?.()
  expect(started).toEqual(['a', 'a', 'b', 'c', 'a', 'b'])
})

it('gives a group with many owners no more turns than one with few', async () => {
  const { started, run, settle } = createWorld(2)
  const ends = ['a.1', 'a.2', 'a.3', 'a.4', 'b.1', 'b.2'].map(owner => run(owner))
  await settle()
  for (const at of [0, 1, 4, 2, 3, 5]) await ends[at]?.()
  expect(started).toEqual(['a.1', 'a.2', 'b.1', 'a.3', 'b.2', 'a.4'])
})

it('leaves the last place to others, whatever an owner or a group has waiting', async () => {
  const { started, run, settle } = createWorld(4, { maxRunningOfOwner: 2, maxRunningOfGroup: 3 })
  for (const owner of ['a.1', 'a.1', 'a.1', 'a.2', 'a.2', 'b']) run(owner)
  await settle()
  expect(started).toEqual(['a.1', 'a.1', 'a.2', 'b'])
})

it('refuses an owner or a group with too many waiting, and all when too many wait', async () => {
  const { run, settle } = createWorld(1, { maxWaitingOfOwner: 2, maxWaitingOfGroup: 3, maxWaiting: 4 })
  const owners = ['a.1', 'a.1', 'a.1', 'a.1', 'a.2', 'a.3', 'b', 'c']
  const refused: string[] = []
  for (const [index, owner] of owners.entries()) {
    run(owner).over.catch(error => {
      if (error instanceof QueueFullError) refused.push(`${index} ${owner}`)
    })
  }
  await settle()
  expect(refused).toEqual(['3 a.1', '5 a.3', '7 c'])
})

it('leaves the last place to others, whatever all groups of one creator have waiting', async () => {
  const { started, run, settle } = createWorld(4, { maxRunningOfGroup: 3 })
  for (const owner of ['x:a', 'x:b', 'x:c', 'x:d', 'x:e', 'f']) run(owner)
  await settle()
  expect(started).toEqual(['x:a', 'x:b', 'x:c', 'f'])
})

it('gives a creator of many groups no more turns than one with few', async () => {
  const { started, run, settle } = createWorld(2)
  const ends = ['x:a', 'x:b', 'x:c', 'x:d', 'y:a', 'y:a'].map(owner => run(owner))
  await settle()
  for (const at of [0, 1, 4, 2, 3, 5]) await ends[at]?.()
  expect(started).toEqual(['x:a', 'x:b', 'y:a', 'x:c', 'y:a', 'x:d'])
})

it('refuses a creator with too many waiting in all their groups', async () => {
  const { run, settle } = createWorld(1, { maxWaitingOfGroup: 2, maxWaitingOfCreator: 3 })
  const refused: string[] = []
  for (const owner of ['x:a', 'x:b', 'x:c', 'x:d', 'x:e', 'y']) {
    run(owner).over.catch(error => {
      if (error instanceof QueueFullError) refused.push(owner)
    })
  }
  await settle()
  expect(refused).toEqual(['x:e'])
})

it('lets the next one start if one is aborted while it waits', async () => {
  const { started, run, settle } = createWorld(1)
  const controller = new AbortController()
  const endFirst = run('a')
  const aborted = run('b', controller.signal)
  run('c')
  await settle()
  controller.abort()
  await expect(aborted.over).rejects.toThrow(AbortedError)
  await endFirst()
  expect(started).toEqual(['a', 'c'])
})

it('leaves half of the places to others for a minute after a limit ended jobs of slow creators', async () => {
  const { queue, started, run, settle, pass } = createWorld(4)
  for (const group of ['x', 'y', 'z']) queue.markSlow(group)
  const endFirst = run('x')
  for (const owner of ['y', 'z', 'friend']) run(owner)
  await settle()
  expect(started).toEqual(['x', 'y', 'friend'])
  pass(60_001)
  await endFirst()
  expect(started).toEqual(['x', 'y', 'friend', 'z'])
})

it('lets others go before a creator whose work took long, for a while', async () => {
  const { started, run, settle, pass } = createWorld(1, { slowAfterMs: 1_000, slowMs: 10_000 })
  const [endSlow, , endOther, endAnother] = ['x:a', 'x:b', 'y', 'z'].map(owner => run(owner))
  await settle()
  pass(1_001)
  await endSlow?.()
  await endOther?.()
  await endAnother?.()
  expect(started).toEqual(['x:a', 'y', 'z', 'x:b'])
})

it('starts the next one after one that failed', async () => {
  const { queue, started, run, settle } = createWorld(1)
  const failing = queue.run({ owner: 'a', group: 'a' }, () => Promise.reject(new Error('no')))
  await expect(failing).rejects.toThrow('no')
  run('a')
  await settle()
  expect(started).toEqual(['a'])
})
