import { createPause } from '../../lib/worker/pause.ts'

/** Number of vectors compared with a query at once, so that each number of the query is read once for all of them. */
const AT_ONCE = 4
/** Number of vectors compared between two pauses, which takes about 0.1 ms for vectors of typical size. */
const A_TURN = 256

type Near = { place: number; nearness: number }

/** Writes the cosines between a query and four unit vectors to `into`, starting at `place`. */
const compareFour = (
  asked: Float32Array,
  [a, b, c, d]: readonly [Float32Array, Float32Array, Float32Array, Float32Array],
  into: Float64Array,
  place: number,
): void => {
  let first = 0
  let second = 0
  let third = 0
  let fourth = 0
  for (let at = 0; at < asked.length; at++) {
    const number = asked[at] ?? 0
    first += number * (a[at] ?? 0)
    second += number * (b[at] ?? 0)
    third += number * (c[at] ?? 0)
    fourth += number * (d[at] ?? 0)
  }
  into[place] = first
  into[place + 1] = second
  into[place + 2] = third
  into[place + 3] = fourth
}

/** Returns the cosine between the query and each vector, by index. Yields to the event loop. */
const compareAll = async (asked: Float32Array, vectors: readonly Float32Array[]): Promise<Float64Array> => {
  const cosines = new Float64Array(Math.ceil(vectors.length / AT_ONCE) * AT_ONCE)
  const pause = createPause()
  const vectorAt = (place: number): Float32Array => vectors[place] ?? asked
  for (let place = 0; place < vectors.length; place += AT_ONCE) {
    if (place % A_TURN === 0) await pause()
    const four = [vectorAt(place), vectorAt(place + 1), vectorAt(place + 2), vectorAt(place + 3)] as const
    compareFour(asked, four, cosines, place)
  }
  return cosines.subarray(0, vectors.length)
}

/** Returns the indexes of the vectors nearest to `asked`, nearest first. Skips vectors with a negative cosine. */
export const listNearest = async (
  asked: Float32Array,
  vectors: readonly Float32Array[],
  limit: number,
  isAllowed: (place: number) => boolean,
): Promise<number[]> => {
  const nearest: Near[] = []
  for (const [place, nearness] of (await compareAll(asked, vectors)).entries()) {
    const least = nearest.length < limit ? 0 : (nearest.at(-1)?.nearness ?? 0)
    if (nearness <= least || !isAllowed(place)) continue
    const before = nearest.findIndex(other => other.nearness < nearness)
    nearest.splice(before === -1 ? nearest.length : before, 0, { place, nearness })
    if (nearest.length > limit) nearest.pop()
  }
  return nearest.map(({ place }) => place)
}
