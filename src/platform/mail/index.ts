export { createMailer } from './create-mailer.ts'
export type { Mail, Mailer } from './mailer.ts'
