import type { SourceFile } from './source-files.ts'

const MIB = 1_024 * 1_024
/** Bytes of all documents that are kept, and of those of one creator of organizations. */
const MAX_KEPT_BYTES = 1_024 * MIB
const MAX_KEPT_BYTES_OF_CREATOR = 128 * MIB

type Kept = { creator: string; files: readonly SourceFile[]; size: number }

/** Remembers the documents of ready imports that may be read again. The oldest make room for others. */
export const createKeptDocuments = (maxBytes = MAX_KEPT_BYTES, maxBytesOfCreator = MAX_KEPT_BYTES_OF_CREATOR) => {
  const kept = new Map<string, Kept>()

  const dropOldest = (isCounted: (one: Kept) => boolean, most: number): string[] => {
    const counted = [...kept].filter(([, one]) => isCounted(one))
    let size = counted.reduce((sum, [, one]) => sum + one.size, 0)
    const dropped: string[] = []
    for (const [id, one] of counted) {
      if (size <= most) break
      size -= one.size
      kept.delete(id)
      dropped.push(id)
    }
    return dropped
  }

  return {
    /** Returns the imports whose documents are no longer kept, so that they can be removed. */
    add: (id: string, creator: string, files: readonly SourceFile[]): readonly string[] => {
      kept.set(id, { creator, files, size: files.reduce((sum, { size }) => sum + size, 0) })
      return [...dropOldest(one => one.creator === creator, maxBytesOfCreator), ...dropOldest(() => true, maxBytes)]
    },
    find: (id: string): readonly SourceFile[] | undefined => kept.get(id)?.files,
    delete: (id: string): void => {
      kept.delete(id)
    },
    /** Lists the imports whose documents are kept. */
    list: (): string[] => [...kept.keys()],
  }
}
