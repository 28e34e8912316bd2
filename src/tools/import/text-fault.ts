/**
 * A problem in a pasted text. `offset` counts UTF-16 units from 0; lines and columns start at 1, and columns count
 * UTF-16 units, as editors do.
 */
export type TextFault = { message: string; offset: number; line: number; column: number }

/** Ends the reading of a text. The function that was given the text returns it as a `TextFault`. */
export class UnreadableText extends Error {
  override readonly name = 'UnreadableText'
  readonly offset: number

  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

/** Returns the error for what is open at the end of the text, such as a `quote`. `offset` is where it starts. */
export const notClosed = (what: string, offset: number): UnreadableText =>
  new UnreadableText(`the ${what} that starts here is not closed`, offset)

/** Returns the fault for an error, with the position of its offset in the text. */
export const toTextFault = (text: string, { message, offset }: UnreadableText): TextFault => {
  const before = text.slice(0, offset)
  return { message, offset, line: before.split('\n').length, column: offset - before.lastIndexOf('\n') }
}
