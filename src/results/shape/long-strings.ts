const COUNT = new Intl.NumberFormat('en-US')

/** The beginning of a string, with how much is missing; the whole where that is no longer. */
export const cutString = (text: string, maxLength: number): string => {
  if (text.length <= maxLength) return text
  const last = text.charCodeAt(maxLength - 1)
  // Half of a pair of surrogates is no character.
  const length = last >= 0xd800 && last <= 0xdbff ? maxLength - 1 : maxLength
  const cut = `${text.slice(0, length)}… (${COUNT.format(text.length - length)} more characters)`
  return cut.length < text.length ? cut : text
}
