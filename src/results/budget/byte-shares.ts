import { createCounts } from '../../lib/worker/fair-queue.ts'

/** Limits the bytes in use at the same time, in total and per owner. */
export const createByteShares = ({ maxBytes, maxBytesOfOwner }: { maxBytes: number; maxBytesOfOwner: number }) => {
  const ofOwner = createCounts()
  let all = 0

  const add = (owner: string, bytes: number): void => {
    all += bytes
    ofOwner.add(owner, bytes)
  }

  /** Returns whether the bytes fit. Work that exceeds the limit by itself is admitted if nothing else is in use. */
  const hasRoom = (bytes: number, taken: number, most: number): boolean => taken === 0 || taken + bytes <= most

  return {
    /** Runs the work if its bytes fit; otherwise returns undefined without starting it. */
    during: async <T>(owner: string, bytes: number, work: () => Promise<T>): Promise<T | undefined> => {
      if (!hasRoom(bytes, ofOwner.of(owner), maxBytesOfOwner) || !hasRoom(bytes, all, maxBytes)) return undefined
      add(owner, bytes)
      try {
        return await work()
      } finally {
        add(owner, -bytes)
      }
    },
  }
}
