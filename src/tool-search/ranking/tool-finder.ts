import { createApiWords } from './api-words.ts'
import { buildToolIndex, type ToolIndex } from './tool-index.ts'
import type { ToolText } from './tool-words.ts'

/** Builds indexes of tools. The synonyms are parsed for the first index and shared by all. */
export const createToolFinder = () => {
  let words: ReturnType<typeof createApiWords> | undefined
  return {
    buildIndex: (tools: readonly ToolText[]): Promise<ToolIndex> => {
      words ??= createApiWords()
      return buildToolIndex(tools, words)
    },
  }
}

export type ToolFinder = ReturnType<typeof createToolFinder>
