import { createApiWords } from './api-words.ts'
import type { WordSources } from './expansion.ts'
import { createLexicon } from './lexicon.ts'
import { buildToolIndex, type ToolIndex } from './tool-index.ts'
import type { ToolText } from './tool-words.ts'
import { readWordNet } from './wordnet-files.ts'

const loadWords = async (onFailed: (error: unknown) => void): Promise<WordSources> => {
  const apiWordsNear = createApiWords()
  try {
    return { apiWordsNear, lexicon: createLexicon(await readWordNet()) }
  } catch (error) {
    // Fewer paraphrases are understood; all else is found as before.
    onFailed(error)
    return { apiWordsNear, lexicon: undefined }
  }
}

/**
 * Makes tools findable in words. What it knows of the language, some 30 MB, is loaded for the first index, and shared by
 * all. `onFailed` hears why it could not be.
 */
export const createToolFinder = (onFailed: (error: unknown) => void) => {
  let words: Promise<WordSources> | undefined
  return {
    buildIndex: async (tools: readonly ToolText[]): Promise<ToolIndex> => {
      words ??= loadWords(onFailed)
      return buildToolIndex(tools, await words)
    },
  }
}

export type ToolFinder = ReturnType<typeof createToolFinder>
