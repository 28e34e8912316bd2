/** A string of JSON, without its quotes, or a number. `name` is the latest member name before it, still escaped. */
export type JsonToken = { start: number; end: number; isString: boolean; name: string | undefined }

/** Longer names are not passed on, because each value below them would be judged by them. */
const NAME_CHARACTERS = 100

const MAY_BE_JSON = /^\s*[[{"]/
const QUOTE = 0x22
const BACKSLASH = 0x5c
const MINUS = 0x2d

/** Returns the end of a string that starts at `start`, which is after its quote. A string that is cut off ends with the text. */
const endOfString = (text: string, start: number): number => {
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code === BACKSLASH) at++
  }
  return text.length
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39
/** Digits, `+`, `-`, `.`, `e` and `E`. */
const isOfNumber = (code: number): boolean =>
  isDigit(code) || code === 0x2b || code === 0x2d || code === 0x2e || code === 0x65 || code === 0x45
const isSpace = (code: number): boolean => code === 0x20 || code === 0x09 || code === 0x0d
/** Characters that may follow a value. */
const SEPARATORS: ReadonlySet<number> = new Set([...'\n,:[]{}'].map(char => char.charCodeAt(0)))
const BRACES: ReadonlySet<number> = new Set([...'{}'].map(char => char.charCodeAt(0)))
const WORDS = ['true', 'false', 'null'] as const

const isNameEnd = (text: string, end: number): boolean => {
  let at = end + 1
  while (text.charCodeAt(at) <= 0x20) at++
  return text.charCodeAt(at) === 0x3a
}

/**
 * Calls `onToken` with the strings and numbers of JSON, of several JSON texts such as JSON Lines, or of the beginning of
 * one. Takes linear time and hardly any memory. Returns false as soon as the text turns out not to be JSON; call it first
 * without `onToken` to find out.
 */
export const scanJson = (text: string, onToken?: (token: JsonToken) => void): boolean => {
  if (!MAY_BE_JSON.test(text)) return false
  let name: string | undefined
  let isAfterValue = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (isSpace(code)) continue
    if (SEPARATORS.has(code)) {
      isAfterValue = false
      if (BRACES.has(code)) name = undefined
      continue
    }
    if (isAfterValue) return false
    isAfterValue = true
    const start = at
    if (code === QUOTE) {
      at = endOfString(text, start + 1)
      const isName = isNameEnd(text, at)
      onToken?.({ start: start + 1, end: at, isString: true, name: isName ? undefined : name })
      if (isName) name = at - start <= NAME_CHARACTERS ? text.slice(start + 1, at) : undefined
    } else if (isDigit(code) || code === MINUS) {
      while (isOfNumber(text.charCodeAt(at + 1))) at++
      onToken?.({ start, end: at + 1, isString: false, name })
    } else {
      const word = WORDS.find(one => text.startsWith(one, at))
      if (word === undefined) return false
      at += word.length - 1
    }
  }
  return true
}
