/** A name was not resolved. `message` says why, and may be shown. */
export class NameError extends Error {
  override readonly name = 'NameError'
}
