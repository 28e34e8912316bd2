/** A text that starts like this is a command, even without options. */
const AT_START = /^\s*(?:[$>%]\s+)?curl(?:\.exe)?\s/
/** Texts that start like this are URLs, whatever follows. */
const URL_START = /^\s*(?:https?:|\{\{)/i
/** The word `curl`, also with a folder, in quotes, or at the end of a line that continues. */
const WORD = /(?<![\w.-])curl(?:\.exe)?["']?[\s\\^`]/i
/** An option or a URL. */
const ARGUMENT = /\s-|https?:/i

/**
 * Returns whether a pasted text contains a cURL command, maybe after a prompt, in a block of Markdown, or among other
 * commands. Such a text often contains secrets: it must be neither stored nor shown. `public/js/curl-command.js` is the
 * same for browsers.
 */
export const isCurlCommand = (text: string): boolean => {
  if (AT_START.test(text)) return true
  const found = URL_START.test(text) ? null : WORD.exec(text)
  return found !== null && ARGUMENT.test(text.slice(found.index))
}
