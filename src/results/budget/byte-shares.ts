/** Bounds the bytes that are in hand at once, of all owners together and of one. */
export const createByteShares = ({ maxBytes, maxBytesOfOwner }: { maxBytes: number; maxBytesOfOwner: number }) => {
  const byOwner = new Map<string, number>()
  let all = 0

  const add = (owner: string, bytes: number): void => {
    all += bytes
    const sum = (byOwner.get(owner) ?? 0) + bytes
    if (sum === 0) byOwner.delete(owner)
    else byOwner.set(owner, sum)
  }

  /** One that is larger than a share is taken by itself. */
  const hasRoom = (bytes: number, taken: number, most: number): boolean => taken === 0 || taken + bytes <= most

  return {
    /** Undefined, and nothing is begun, where the owner or all together have too much in hand. */
    during: async <T>(owner: string, bytes: number, work: () => Promise<T>): Promise<T | undefined> => {
      if (!hasRoom(bytes, byOwner.get(owner) ?? 0, maxBytesOfOwner) || !hasRoom(bytes, all, maxBytes)) return undefined
      add(owner, bytes)
      try {
        return await work()
      } finally {
        add(owner, -bytes)
      }
    },
  }
}
