import type { Socket, SocketSource } from './sockets.ts'

/** Characters of a value that a chip shows. */
const MAX_CHIP_CHARACTERS = 32

/** A source as the part `source` shows it, with what is missing. */
export type Chip = { source: SocketSource; text: string; title: string; missing: string | undefined }

/** One line, and not longer than what fits. */
const shorten = (text: string): string => {
  const characters = [...text.replace(/\s+/g, ' ')]
  return characters.length <= MAX_CHIP_CHARACTERS
    ? characters.join('')
    : `${characters.slice(0, MAX_CHIP_CHARACTERS - 1).join('')}…`
}

const titleOf = ({ source, text }: Socket): string => (source === 'exposed' ? 'The caller gives it' : text)

export const toChip = (socket: Socket): Chip => ({
  source: socket.source,
  text: socket.source === 'exposed' ? 'caller' : socket.text === '' ? 'empty text' : shorten(socket.text),
  title: titleOf(socket),
  missing: socket.missing.length === 0 ? undefined : `no global ${socket.missing.join(', ')}`,
})

/** What the API says of a value, after the name of what it is for: "must be an integer". */
export const faultInWords = (message: string): string =>
  message.replace(/^value /, '').replace(', not a string that is not one', '')
