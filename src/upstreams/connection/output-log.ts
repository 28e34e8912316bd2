import { stripVTControlCharacters } from 'node:util'

/** One line of what a process says beside the protocol, or of what became of it. */
export type LogLine = {
  at: Date
  /** `patchbay`: said by us, such as that the process has ended. */
  source: 'stderr' | 'stdout' | 'patchbay'
  text: string
}

/** Lines kept of one upstream; the oldest go first. */
const MAX_LINES = 500
/** Of one line; what is longer is cut. */
export const MAX_LOG_LINE_CHARS = 2_000

const HIDDEN = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu

/** Text without control characters and those that have no width, or turn the rest around. */
export const stripHidden = (text: string): string => text.replace(HIDDEN, '')

/**
 * Text without the values of secrets. To be done before anything is cut off, since half a secret would not be found,
 * and once what is hidden is gone, which may stand in the midst of one.
 */
export const maskSecrets = (text: string, secrets: readonly string[]): string =>
  secrets
    .filter(secret => secret !== '')
    // The longest first: one inside another must not leave the rest of it readable.
    .toSorted((one, other) => other.length - one.length)
    .reduce((masked, secret) => masked.replaceAll(secret, '…'), text)

/** The latest lines of an upstream, without escape sequences, control characters and the values of its secrets. */
export const createOutputLog = ({ now }: { now: () => Date }) => {
  let lines: LogLine[] = []
  let secrets: readonly string[] = []
  return {
    /** Values that are masked in what is added from now on. */
    hide: (values: readonly string[]): void => {
      secrets = values
    },
    add: (source: LogLine['source'], line: string): void => {
      const plain = stripVTControlCharacters(line.slice(0, 2 * MAX_LOG_LINE_CHARS)).replace(/\t/g, '  ')
      const text = maskSecrets(stripHidden(plain), secrets).slice(0, MAX_LOG_LINE_CHARS)
      if (text.trim() === '') return
      lines.push({ at: now(), source, text })
      if (lines.length > 2 * MAX_LINES) lines = lines.slice(-MAX_LINES)
    },
    list: (): readonly LogLine[] => lines.slice(-MAX_LINES),
  }
}

export type OutputLog = ReturnType<typeof createOutputLog>
