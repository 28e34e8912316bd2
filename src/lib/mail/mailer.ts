/** A plain-text email. `stopLink` is the page on which its reader stops such emails (RFC 2369 §3.2). */
export type Mail = { to: string; subject: string; text: string; stopLink?: string }

/**
 * Sends emails. `send` resolves once the mail server or the outbox has accepted the email, and throws `unavailable` if
 * it is not accepted.
 */
export type Mailer = {
  send: (mail: Mail) => Promise<void>
  /** Whether emails are delivered, rather than only written to the outbox folder. */
  isDelivering: boolean
  close: () => void
}
