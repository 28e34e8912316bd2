import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { nextTurn } from '../../../src/lib/worker/pause.ts'

describe('long work that waits for its turn between its pieces', () => {
  it('runs one piece in each iteration of the event loop, in turn with other long work', async () => {
    const pieces: string[] = []
    const work = async (name: string): Promise<void> => {
      for (let piece = 0; piece < 3; piece++) {
        await nextTurn()
        pieces.push(name)
      }
    }
    let iteration = 0
    const done = Promise.all([work('a'), work('b')])
    const seen: number[] = []
    for (; iteration < 6; iteration++) {
      await setImmediate()
      seen.push(pieces.length)
    }
    await done
    expect(pieces).toEqual(['a', 'b', 'a', 'b', 'a', 'b'])
    expect(seen).toEqual([1, 2, 3, 4, 5, 6])
  })
})
