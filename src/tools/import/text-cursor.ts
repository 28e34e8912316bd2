/** Counts the characters that a reader examines. The tests show with it that reading takes linear time. */
export type Meter = (characters: number) => void

/** A position in a text, which only moves forward. */
export type TextCursor = {
  offset: () => number
  isAtEnd: () => boolean
  /** Returns the character at the position, or `ahead` characters after it. Empty at the end of the text. */
  peek: (ahead?: number) => string
  /** Returns and skips what a sticky pattern matches at the position. The pattern must not backtrack. */
  take: (pattern: RegExp) => string
  /** Returns the text up to a character, and skips both. Undefined if the character does not follow. */
  takeThrough: (end: string) => string | undefined
}

export const createCursor = (text: string, meter: Meter): TextCursor => {
  let at = 0
  return {
    offset: () => at,
    isAtEnd: () => at >= text.length,
    peek: (ahead = 0) => {
      meter(1)
      return text.charAt(at + ahead)
    },
    take: pattern => {
      pattern.lastIndex = at
      const [found = ''] = pattern.exec(text) ?? []
      meter(found.length + 1)
      at += found.length
      return found
    },
    takeThrough: end => {
      const found = text.indexOf(end, at)
      meter((found === -1 ? text.length : found) - at + 1)
      if (found === -1) return undefined
      const taken = text.slice(at, found)
      at = found + end.length
      return taken
    },
  }
}
