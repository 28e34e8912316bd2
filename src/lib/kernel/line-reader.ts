export type LineReaderOptions = {
  /** Of one line, without its end. */
  maxBytes: number
  onLine: (line: string) => void
  /** A line is longer; told once for it, and the rest of it is dropped. */
  onTooLong: (beginning: string) => void
}

const LINE_FEED = 0x0a
/** Of a line that is too long: enough to know it by. */
const BEGINNING_BYTES = 8 * 1_024

/** Takes bytes apart at line feeds; holds at most one line. */
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
    /** What came without a line feed at its end. */
    end: (): void => {
      if (!isDropping && heldBytes > 0) onLine(take())
    },
  }
}
