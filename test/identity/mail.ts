import { onTestFinished } from 'vitest'
import type { DatabaseKindForTests } from '../support/databases.ts'
import { type ReceivedMail, type SmtpServer, startSmtpServer } from '../support/smtp-server.ts'
import { type AccountsApp, EMAIL, signUpInBrowser, startOwnApp } from './app.ts'

export type MailApp = AccountsApp & { smtp: SmtpServer }

/** Starts the real application with its own mail server. Both stop after the test. */
export const startMailApp = async (
  database: DatabaseKindForTests,
  env: Record<string, string> = {},
): Promise<MailApp> => {
  const smtp = await startSmtpServer()
  const app = await startOwnApp(database, { SMTP_URL: smtp.url, ...env })
  onTestFinished(smtp.close)
  return { ...app, smtp }
}

/** Returns the only link in an email, and its token. */
export const linkIn = (mail: ReceivedMail): { url: URL; token: string } => {
  const links = mail.text.match(/https?:\/\/\S+\?token=\S+/g) ?? []
  const [link] = links
  if (link === undefined || links.length > 1) throw new Error(`not one link in: ${mail.text}`)
  const url = new URL(link)
  return { url, token: url.searchParams.get('token') ?? '' }
}

/** Signs up a user and returns their browser. `welcome` is the email they received. */
export const newPerson = async (app: MailApp, email = EMAIL) => ({
  browser: await signUpInBrowser(app, email),
  email,
  welcome: await app.smtp.next(),
})

/** Like `newPerson`, and confirms the email in the same browser. */
export const newConfirmedPerson = async (app: MailApp, email = EMAIL) => {
  const person = await newPerson(app, email)
  const { token } = linkIn(person.welcome)
  await person.browser.send('POST', '/email-verifications', { token })
  return person
}
