import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import { AppError } from '../kernel/errors.ts'
import type { Logger } from '../process/logger.ts'
import type { Mail, Mailer } from './mailer.ts'

/**
 * Timeout for connecting, for the greeting and for silence, so that a mail server that hangs does not block a request.
 */
const SMTP_TIMEOUT_MS = 10_000

export type MailerOptions = {
  /** If undefined, each email is written to its own file in `outboxDirectory`. */
  smtpUrl: string | undefined
  outboxDirectory: string
  /** Value of the From header, such as `Patchbay <patchbay@example.com>`. */
  from: string
  logger: Logger
}

const CONTROL_CHARACTERS = /\p{Cc}/u

/**
 * Converts an email for nodemailer, addressed to exactly one mailbox and marked as automatic (RFC 3834 §5). Throws if a
 * header would contain a control character.
 */
const toMessage = ({ to, subject, text, stopLink }: Mail) => {
  if (CONTROL_CHARACTERS.test(to) || CONTROL_CHARACTERS.test(subject)) {
    throw new AppError('invalid_request', 'The address or subject of an email contains control characters.')
  }
  const headers = {
    'Auto-Submitted': 'auto-generated',
    ...(stopLink !== undefined && { 'List-Unsubscribe': `<${stopLink}>` }),
  }
  return { to: { name: '', address: to }, subject, text, headers }
}
type Message = ReturnType<typeof toMessage>

const cannotSend = (cause: unknown): AppError =>
  new AppError('unavailable', 'The email could not be sent. Try again later.', { cause })

const createSmtpMailer = (smtpUrl: string, { from }: MailerOptions): Mailer => {
  const transport = createTransport(
    {
      url: smtpUrl,
      connectionTimeout: SMTP_TIMEOUT_MS,
      greetingTimeout: SMTP_TIMEOUT_MS,
      socketTimeout: SMTP_TIMEOUT_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    },
    { from },
  )
  return {
    send: async mail => {
      const message = toMessage(mail)
      try {
        await transport.sendMail(message)
      } catch (error) {
        throw cannotSend(error)
      }
    },
    isDelivering: true,
    close: () => transport.close(),
  }
}

/** Writes each email to a file that mail programs can open (RFC 5322). */
const createOutboxMailer = ({ outboxDirectory, from, logger }: MailerOptions): Mailer => {
  const transport = createTransport(
    { streamTransport: true, buffer: true, newline: 'unix', disableFileAccess: true, disableUrlAccess: true },
    { from },
  )
  const write = async (message: Message): Promise<string> => {
    const { message: content } = await transport.sendMail(message)
    const stamp = new Date().toISOString().replaceAll(':', '-')
    const file = join(outboxDirectory, `${stamp}-${randomUUID().slice(0, 8)}.eml`)
    await mkdir(outboxDirectory, { recursive: true, mode: 0o700 })
    await writeFile(file, content, { mode: 0o600, flag: 'wx' })
    return file
  }
  return {
    send: async mail => {
      const file = await write(toMessage(mail)).catch(error => {
        throw cannotSend(error)
      })
      logger.info({ to: mail.to, subject: mail.subject, file }, 'SMTP_URL is not set: the email is in the outbox')
    },
    isDelivering: false,
    close: () => transport.close(),
  }
}

export const openMailer = (options: MailerOptions): Mailer =>
  options.smtpUrl === undefined ? createOutboxMailer(options) : createSmtpMailer(options.smtpUrl, options)
