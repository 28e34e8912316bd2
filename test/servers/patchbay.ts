import { afterAll, beforeAll } from 'vitest'
import { startTestApp, type TestApp } from '../support/app.ts'
import { type DatabaseKindForTests, databaseKinds, type TestDatabase } from '../support/databases.ts'
import { type Answerer, echo, type FakeApi, startFakeApi } from '../support/fake-api.ts'

const [sqlite] = databaseKinds
if (sqlite === undefined) throw new Error('there is no database to test on')
/** For tests that do not depend on the database. */
const anyDatabase: DatabaseKindForTests = sqlite

/** Starts something before the tests of a block and stops it afterwards; use `get` inside tests. */
const duringTests = <T>(start: () => Promise<T>, stop: (running: T) => Promise<void>) => {
  let running: T | undefined
  beforeAll(async () => {
    running = await start()
  })
  afterAll(async () => {
    if (running !== undefined) await stop(running)
  })
  return (): T => {
    if (running === undefined) throw new Error('it runs only during the tests of its block')
    return running
  }
}

/** Runs the real application with its own database for the tests of a block. */
export const runPatchbay = (kind: DatabaseKindForTests = anyDatabase, env: Record<string, string> = {}) => {
  const get = duringTests(
    async (): Promise<{ database: TestDatabase; app: TestApp }> => {
      const database = await kind.create()
      return { database, app: await startTestApp({ databaseUrl: database.url, env }) }
    },
    async ({ app, database }) => {
      await app.close()
      await database.drop()
    },
  )
  return {
    get origin() {
      return get().app.origin
    },
    get services() {
      return get().app.services
    },
    get settings() {
      return get().app.settings
    },
    get http() {
      return get().app.app.http
    },
    get databaseUrl() {
      return get().database.url
    },
  }
}

/** Runs an HTTP API for the tests of a block. */
export const runFakeApi = (answer: Answerer = echo): Pick<FakeApi, 'origin' | 'seen'> => {
  const get = duringTests(
    () => startFakeApi(answer),
    api => api.close(),
  )
  return {
    get origin() {
      return get().origin
    },
    get seen() {
      return get().seen
    },
  }
}
