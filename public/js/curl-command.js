/** A text that starts like this is a command, even without options. */
const AT_START = /^\s*(?:[$>%]\s+)?curl(?:\.exe)?\s/
/** Texts that start like this are URLs, whatever follows. */
const URL_START = /^\s*(?:https?:|\{\{)/i
/** The word `curl`, also with a folder, in quotes, or at the end of a line that continues. */
const WORD = /(?<![\w.-])curl(?:\.exe)?["']?[\s\\^`]/i
/** An option or a URL. */
const ARGUMENT = /\s-|https?:/i

/** Returns whether a text contains a cURL command, by the same rules as `curl-command.ts`. @param {string} text */
export const isCurlCommand = text => {
  if (AT_START.test(text)) return true
  const found = URL_START.test(text) ? null : WORD.exec(text)
  return found !== null && ARGUMENT.test(text.slice(found.index))
}
