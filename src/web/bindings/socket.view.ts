import type { Socket, SocketSource } from '../../servers/bindings/sockets.ts'

/** Characters of a value that a chip shows. */
const MAX_CHIP_CHARACTERS = 32

/** And what it says when it is pointed at; all of it stands where it is edited. */
const MAX_TITLE_CHARACTERS = 400

/** A source as the part `source` shows it, with what is missing. */
export type Chip = { source: SocketSource; text: string; title: string; missing: string | undefined }

const cut = (text: string, atMost: number): string =>
  text.length <= atMost ? text : `${text.slice(0, atMost - 1).toWellFormed()}…`

/** One line, and not longer than what fits. */
const shorten = (text: string): string => {
  const characters = [...cut(text, MAX_TITLE_CHARACTERS).replace(/\s+/g, ' ')]
  return characters.length <= MAX_CHIP_CHARACTERS
    ? characters.join('')
    : `${characters.slice(0, MAX_CHIP_CHARACTERS - 1).join('')}…`
}

const titleOf = ({ source, text }: Socket): string =>
  source === 'exposed' ? 'The caller gives it' : cut(text, MAX_TITLE_CHARACTERS)

export const toChip = (socket: Socket): Chip => ({
  source: socket.source,
  text: socket.source === 'exposed' ? 'caller' : socket.text === '' ? 'empty text' : shorten(socket.text),
  title: titleOf(socket),
  missing: socket.missing.length === 0 ? undefined : `no global ${socket.missing.join(', ')}`,
})

/** What the API says of a value, after the name of what it is for: "must be an integer". */
export const faultInWords = (message: string): string =>
  message.replace(/^value /, '').replace(', not a string that is not one', '')
