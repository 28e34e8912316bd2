import { onTestFinished } from 'vitest'
import { z } from 'zod'
import type { ServiceOptions } from '../../src/services.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { createBrowser } from '../support/browser.ts'
import type { DatabaseKindForTests } from '../support/databases.ts'
import { type StartedApp, startOwnApp as startOwn, takeKeptApp } from '../support/kept-app.ts'

export { databasesOfRun } from '../support/databases.ts'
export { anyDatabase } from '../support/world.ts'

export const PASSWORD = 'correct horse battery staple'
export const NEW_PASSWORD = 'another horse another staple'
export const EMAIL = 'ada@example.com'
/** Settings that let a test choose any network address through a proxy header. */
export const BEHIND_PROXY = { PATCHBAY_TRUST_PROXY: '127.0.0.0/8,::1/128' }

export type AccountsApp = TestApp & {
  /** Starts a second application on the same database, as another process would. */
  startAnother: (env?: Record<string, string>) => Promise<TestApp>
}

const toAccountsApp = ({ app, database, close }: StartedApp): AccountsApp => {
  onTestFinished(close)
  return {
    ...app,
    startAnother: async (env = {}) => {
      const another = await startTestApp({ databaseUrl: database.url, env })
      onTestFinished(another.close)
      return another
    },
  }
}

/** Returns the real application with an empty database for this test. */
export const startApp = async (kind: DatabaseKindForTests, env: Record<string, string> = {}): Promise<AccountsApp> =>
  toAccountsApp(await takeKeptApp({ kind, env }))

/** Starts an application for this test alone. Used by tests that would affect the next one. */
export const startOwnApp = async (
  kind: DatabaseKindForTests,
  env: Record<string, string> = {},
  services?: ServiceOptions,
): Promise<AccountsApp> => toAccountsApp(await startOwn({ kind, env, ...(services && { services }) }))

/** Signs up a user and returns their browser. */
export const signUpInBrowser = async (
  { origin }: Pick<AccountsApp, 'origin'>,
  email = EMAIL,
  options?: Parameters<typeof createBrowser>[1],
) => {
  const browser = createBrowser(origin, options)
  const answer = await browser.signUp(email, PASSWORD)
  if (answer.status !== 201) throw new Error(`sign-up: ${answer.text}`)
  await browser.loadCsrfToken()
  return browser
}

const Token = z.object({ token: z.string() })

/** Creates a personal access token for the signed-in user. */
export const makeToken = async (browser: ReturnType<typeof createBrowser>): Promise<string> =>
  Token.parse((await browser.send('POST', '/tokens', { name: 'script' })).json()).token

/** Lists the actions in the audit log, oldest first. */
export const auditOf = async ({ services }: Pick<AccountsApp, 'services'>): Promise<string[]> =>
  (await services.db.auditEntry.findMany({ orderBy: { id: 'asc' } })).map(({ action }) => action)
