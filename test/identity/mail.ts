import { onTestFinished } from 'vitest'
import { createBrowser } from '../support/browser.ts'
import type { DatabaseKindForTests } from '../support/databases.ts'
import { type ReceivedMail, type SmtpServer, startSmtpServer } from '../support/smtp-server.ts'
import { type AccountsApp, startOwnApp } from './app.ts'

export const PASSWORD = 'correct horse battery staple'
export const NEW_PASSWORD = 'another horse another staple'
export const EMAIL = 'ada@example.com'

export type MailApp = AccountsApp & { smtp: SmtpServer }

/** Starts the real application with its own mail server. Both end with the test. */
export const startMailApp = async (
  database: DatabaseKindForTests,
  env: Record<string, string> = {},
): Promise<MailApp> => {
  const smtp = await startSmtpServer()
  const app = await startOwnApp(database, { SMTP_URL: smtp.url, ...env })
  onTestFinished(smtp.close)
  return { ...app, smtp }
}

/** Returns the path and token of the only link in an email. */
export const linkIn = (mail: ReceivedMail): { url: URL; token: string } => {
  const links = mail.text.match(/https?:\/\/\S+\?token=\S+/g) ?? []
  const [link] = links
  if (link === undefined || links.length > 1) throw new Error(`not one link in: ${mail.text}`)
  const url = new URL(link)
  return { url, token: url.searchParams.get('token') ?? '' }
}

/** Signs up a user and returns their browser; `welcome` is the email they received. */
export const newPerson = async ({ origin, smtp }: MailApp, email = EMAIL) => {
  const browser = createBrowser(origin)
  const answer = await browser.signUp(email, PASSWORD)
  if (answer.status !== 201) throw new Error(`sign-up: ${answer.text}`)
  await browser.loadCsrfToken()
  return { browser, email, welcome: await smtp.next() }
}

/** Lists the actions in the audit log, oldest first. */
export const auditOf = async ({ services }: MailApp): Promise<string[]> =>
  (await services.db.auditEntry.findMany({ orderBy: { id: 'asc' } })).map(({ action }) => action)
