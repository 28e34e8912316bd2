export type LineReaderOptions = {
  /** Maximum length of a line, without its terminator. */
  maxBytes: number
  onLine: (line: string) => void
  /** Called once for each line that is too long. The rest of the line is dropped. */
  onTooLong: (beginning: string) => void
}

const LINE_FEED = 0x0a
/** How much of a line that is too long is reported: enough to recognize the line. */
const BEGINNING_BYTES = 8 * 1_024

/** Splits bytes into lines. Buffers at most one line. */
export const createLineReader = ({ maxBytes, onLine, onTooLong }: LineReaderOptions) => {
  let parts: Buffer[] = []
  let heldBytes = 0
  let isDropping = false

  const hold = (part: Buffer): void => {
    if (isDropping || part.length === 0) return
    parts.push(part)
    heldBytes += part.length
    if (heldBytes <= maxBytes) return
    const beginning = Buffer.concat(parts).subarray(0, BEGINNING_BYTES).toString('utf8')
    isDropping = true
    parts = []
    heldBytes = 0
    onTooLong(beginning)
  }
  const take = (): string => {
    const line = parts.length === 1 ? parts[0] : Buffer.concat(parts, heldBytes)
    parts = []
    heldBytes = 0
    return (line ?? Buffer.alloc(0)).toString('utf8').replace(/\r$/, '')
  }

  return {
    add: (chunk: Buffer): void => {
      let from = 0
      for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, from)) {
        hold(chunk.subarray(from, end))
        if (isDropping) isDropping = false
        else onLine(take())
        from = end + 1
      }
      hold(chunk.subarray(from))
    },
    /** Emits the last line if it has no terminator. */
    end: (): void => {
      if (!isDropping && heldBytes > 0) onLine(take())
    },
  }
}
