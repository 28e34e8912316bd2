/** The same as in `public/js/tool-editor-curl.js`. */
const COMMAND = /^\s*(?:[$>%]\s+)?curl(?:\.exe)?\s/

/**
 * Returns whether a pasted text is a cURL command, maybe after the prompt of a shell. Such a text often contains secrets:
 * it must be neither stored nor shown.
 */
export const isCurlCommand = (text: string): boolean => COMMAND.test(text)
