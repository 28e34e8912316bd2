import { shorten } from '../../lib/kernel/format.ts'
import type { Socket, SocketSource } from '../../servers/bindings/sockets.ts'

const MAX_CHIP_CHARACTERS = 32

/** Maximum length of the tooltip. The tool's page shows the whole value. */
const MAX_TITLE_CHARACTERS = 400

/** A parameter's source, as rendered by `views/parts/source.eta`. */
export type Chip = { source: SocketSource; text: string; title: string; missing: string | undefined }

const titleOf = ({ source, text }: Socket): string =>
  source === 'exposed' ? 'From the model' : shorten(text, MAX_TITLE_CHARACTERS)

export const toChip = (socket: Socket): Chip => ({
  source: socket.source,
  text:
    socket.source === 'exposed'
      ? 'from the model'
      : socket.text === ''
        ? 'empty text'
        : shorten(shorten(socket.text, MAX_TITLE_CHARACTERS).replace(/\s+/g, ' '), MAX_CHIP_CHARACTERS),
  title: titleOf(socket),
  missing: socket.missing.length === 0 ? undefined : `missing global ${socket.missing.join(', ')}`,
})

/** Shortens an API error so that it can follow the parameter's name, as in "must be an integer". */
export const toShortError = (message: string): string =>
  message.replace(/^value /, '').replace(', not a string that is not one', '')
