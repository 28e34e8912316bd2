import type { Mailer } from './mailer.ts'
import type { MailerOptions } from './open-mailer.ts'

/**
 * Creates a mailer that opens when the first email is sent, because most processes send none and the mail library takes
 * 5 MB.
 */
export const createMailer = (options: MailerOptions): Mailer => {
  let opening: Promise<Mailer> | undefined
  const open = async (): Promise<Mailer> => (await import('./open-mailer.ts')).openMailer(options)
  return {
    send: async mail => {
      opening ??= open()
      await (await opening).send(mail)
    },
    isDelivering: options.smtpUrl !== undefined,
    close: () => void opening?.then(mailer => mailer.close()),
  }
}
