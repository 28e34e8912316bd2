import { onTestFinished } from 'vitest'
import type { ServiceOptions } from '../../src/services.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { type DatabaseKindForTests, databaseKinds } from '../support/databases.ts'

export { databaseKinds as databases } from '../support/databases.ts'

const [first] = databaseKinds
if (first === undefined) throw new Error('there is no database to test on')
/** For tests that do not depend on the database. */
export const anyDatabase: DatabaseKindForTests = first

export type AccountsApp = TestApp & {
  /** Starts a second application on the same database, like another process. */
  startAnother: (env?: Record<string, string>) => Promise<TestApp>
}

/** Starts the real application on a fresh database. It ends with the test. */
export const startApp = async (
  kind: DatabaseKindForTests,
  env?: Record<string, string>,
  services?: ServiceOptions,
): Promise<AccountsApp> => {
  const database = await kind.create()
  onTestFinished(database.drop)
  const start = async (settings: Record<string, string> = {}): Promise<TestApp> => {
    const app = await startTestApp({ databaseUrl: database.url, env: settings, ...(services && { services }) })
    onTestFinished(app.close)
    return app
  }
  return { ...(await start(env)), startAnother: start }
}
