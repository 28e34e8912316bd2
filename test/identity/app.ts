import { onTestFinished } from 'vitest'
import type { ServiceOptions } from '../../src/services.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import type { DatabaseKindForTests } from '../support/databases.ts'
import { type StartedApp, startOwnApp as startOwn, takeKeptApp } from '../support/kept-app.ts'

export { databasesOfRun } from '../support/databases.ts'
export { anyDatabase } from '../support/world.ts'

export type AccountsApp = TestApp & {
  /** Starts a second application on the same database, like another process. */
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

/** Returns the real application with an empty database, for this test. */
export const startApp = async (kind: DatabaseKindForTests, env: Record<string, string> = {}): Promise<AccountsApp> =>
  toAccountsApp(await takeKeptApp({ kind, env }))

/** Starts an application for this test alone, for what the next test would notice. */
export const startOwnApp = async (
  kind: DatabaseKindForTests,
  env: Record<string, string> = {},
  services?: ServiceOptions,
): Promise<AccountsApp> => toAccountsApp(await startOwn({ kind, env, ...(services && { services }) }))
