import { afterAll, beforeAll } from 'vitest'
import { startTestApp, type TestApp } from '../support/app.ts'
import { type DatabaseKindForTests, databaseKinds, type TestDatabase } from '../support/databases.ts'
import { type Answerer, echo, type FakeApi, startFakeApi } from '../support/fake-api.ts'

const [sqlite] = databaseKinds
if (sqlite === undefined) throw new Error('there is no database to test on')
/** For what does not depend on the database. */
const anyDatabase: DatabaseKindForTests = sqlite

/** What begins before the tests of a block and ends after them; `get` is for use inside of them. */
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

/** The real application on a database of its own, for the tests of one block. */
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

/** Somebody's HTTP API, for the tests of one block. */
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
