/**
 * Thrown when a client refuses an upstream's request or cannot be asked. `message` has the client's words or the
 * reason. The upstream receives both members, if it waits for a response.
 */
export class ClientRefusal extends Error {
  override readonly name = 'ClientRefusal'
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}
