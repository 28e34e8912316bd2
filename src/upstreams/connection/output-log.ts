import { stripVTControlCharacters } from 'node:util'

/** A line of the process's output that is not an MCP message, or an event such as its exit. */
export type LogLine = {
  at: Date
  /** `patchbay` marks events. */
  source: 'stderr' | 'stdout' | 'patchbay'
  text: string
}

/** Maximum number of lines per upstream. The oldest lines are dropped. */
const MAX_LINES = 500
/** Maximum length of a line. Longer lines are truncated. */
export const MAX_LOG_LINE_CHARS = 2_000

const HIDDEN = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu

/** Removes control characters, zero-width characters and bidirectional marks. */
export const stripHidden = (text: string): string => text.replace(HIDDEN, '')

/**
 * Masks secret values. Call it before truncating, because part of a secret would not be found, and after `stripHidden`,
 * because hidden characters may split a secret.
 */
export const maskSecrets = (text: string, secrets: readonly string[]): string =>
  secrets
    .filter(secret => secret !== '')
    // Longest first, so that masking a secret inside a longer one does not leave the rest readable.
    .toSorted((one, other) => other.length - one.length)
    .reduce((masked, secret) => masked.replaceAll(secret, '…'), text)

/** The most recent lines of an upstream, without escape sequences, control characters and secrets. */
export const createOutputLog = () => {
  let lines: LogLine[] = []
  let secrets: readonly string[] = []
  return {
    /** Sets the values to mask in lines added from now on. */
    hide: (values: readonly string[]): void => {
      secrets = values
    },
    add: (source: LogLine['source'], line: string): void => {
      const plain = stripVTControlCharacters(line.slice(0, 2 * MAX_LOG_LINE_CHARS)).replace(/\t/g, '  ')
      const text = maskSecrets(stripHidden(plain), secrets).slice(0, MAX_LOG_LINE_CHARS)
      if (text.trim() === '') return
      lines.push({ at: new Date(), source, text })
      if (lines.length > 2 * MAX_LINES) lines = lines.slice(-MAX_LINES)
    },
    list: (): readonly LogLine[] => lines.slice(-MAX_LINES),
  }
}

export type OutputLog = ReturnType<typeof createOutputLog>
