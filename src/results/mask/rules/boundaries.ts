const WORD = /[\p{L}\p{N}_]/u
const LETTER = /[a-z]/i

/** Returns whether the character at an offset is a letter, a digit or `_`. False outside of the text. */
export const isWordAt = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at)
  // Comparing codes is many times faster than the expression, and most texts are ASCII.
  if (code < 0x80) {
    return (
      (code >= 0x30 && code <= 0x39) ||
      (code >= 0x41 && code <= 0x5a) ||
      (code >= 0x61 && code <= 0x7a) ||
      code === 0x5f
    )
  }
  return code >= 0x80 && WORD.test(text.charAt(at))
}

export const isDigitAt = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at)
  return code >= 0x30 && code <= 0x39
}

/** Returns whether the character at an offset is a letter of an escape such as `\n`, in text that quotes JSON or code. */
export const isEscapeAt = (text: string, at: number): boolean =>
  text.charCodeAt(at - 1) === 0x5c && LETTER.test(text.charAt(at))

/** Returns whether a word continues before the offset. */
export const isWordBefore = (text: string, at: number): boolean => isWordAt(text, at - 1) && !isEscapeAt(text, at - 1)
