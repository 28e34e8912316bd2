const COUNT = new Intl.NumberFormat('en-US')

/** Returns the beginning of a string and how much is missing; the whole string if that is not longer. */
export const cutString = (text: string, maxLength: number): string => {
  if (text.length <= maxLength) return text
  const last = text.charCodeAt(maxLength - 1)
  // Does not split a surrogate pair.
  const length = last >= 0xd800 && last <= 0xdbff ? maxLength - 1 : maxLength
  const cut = `${text.slice(0, length)}… (${COUNT.format(text.length - length)} more characters)`
  return cut.length < text.length ? cut : text
}
