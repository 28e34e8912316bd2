/** A letter in plain text: what a person must read first stands in its first lines. */
export type Mail = { to: string; subject: string; text: string }

/**
 * Sends letters. `send` resolves when the letter is handed over (to the mail server, or to the outbox) and throws
 * `unavailable` when that fails.
 */
export type Mailer = {
  send: (mail: Mail) => Promise<void>
  /** Whether letters reach people, or only the outbox folder. */
  isDelivering: boolean
  close: () => void
}
