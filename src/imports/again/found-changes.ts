import { createHash } from 'node:crypto'
import type { ComparedOperation } from './compare-import.ts'
import type { ToolOrigin } from './tool-sources.store.ts'
import type { StoredFound } from './toolkit-source.ts'

/** Adds up what a source would change in the tools that were imported from it. */
export const createFoundChanges = (sha256: string, keptGone: readonly string[] = []) => {
  const digest = createHash('sha256')
  let changed = 0
  let breaking = 0
  const kept = new Set(keptGone)
  let stillGone: string[] = []
  return {
    add: (compared: readonly ComparedOperation[]): void => {
      for (const { comparison } of compared) {
        if (comparison === undefined || comparison.state === 'same') continue
        changed++
        if (comparison.breaking.mine.length > 0) breaking++
        const theirs = comparison.pieces.filter(({ change }) => change !== 'mine')
        digest.update(JSON.stringify([comparison.toolId, comparison.breaking.mine, theirs]))
      }
    },
    addGone: (gone: readonly ToolOrigin[]): void => {
      const ids = gone.map(({ toolId }) => toolId)
      const fresh = ids.filter(id => !kept.has(id))
      stillGone = ids.filter(id => kept.has(id))
      changed += fresh.length
      breaking += fresh.length
      digest.update(JSON.stringify(fresh))
    },
    sum: (): StoredFound => ({
      ...{ changed, breaking, sha256, digest: digest.digest('hex') },
      ...(stillGone.length > 0 && { keptGone: stillGone }),
    }),
  }
}
