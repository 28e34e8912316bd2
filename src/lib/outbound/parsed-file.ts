import { readFileSync, statSync } from 'node:fs'

/**
 * Returns a function that returns the parsed text of a small local file, read again when the file has changed. A file
 * that cannot be read counts as empty.
 */
export const createParsedFile = <Value>(path: string, parse: (text: string) => Value): (() => Value) => {
  const empty = { version: '', value: parse('') }
  let last = empty
  return () => {
    try {
      // Synchronous, because asynchronous calls would wait for the threads that getaddrinfo may block.
      const { mtimeMs, size, ino } = statSync(path)
      const version = `${mtimeMs} ${size} ${ino}`
      if (version !== last.version) last = { version, value: parse(readFileSync(path, 'utf8')) }
    } catch {
      last = empty
    }
    return last.value
  }
}
