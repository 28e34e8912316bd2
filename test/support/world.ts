import { afterAll, beforeAll } from 'vitest'
import { z } from 'zod'
import type { Role } from '../../src/lib/kernel/roles.ts'
import { type ApiClient, signUp } from './api-client.ts'
import { startTestApp } from './app.ts'
import { type DatabaseKindForTests, databaseKinds } from './databases.ts'
import { type Answerer, echo, startFakeApi } from './fake-api.ts'
import { type StartOptions, startOwnApp, takeKeptApp } from './kept-app.ts'

const [sqlite] = databaseKinds
if (sqlite === undefined) throw new Error('there is no database to test on')
/** The database for tests that do not depend on its kind. */
export const anyDatabase: DatabaseKindForTests = sqlite

type Closable = { close?: () => unknown }

/**
 * Starts something before the tests of a block, and closes it after them. Returns an object that stands in for it
 * during these tests.
 */
export const during = <Running extends object & Closable>(start: () => Promise<Running> | Running): Running => {
  let running: Running | undefined
  beforeAll(async () => {
    running = await start()
  })
  afterAll(async () => {
    await running?.close?.()
    running = undefined
  })
  const get = (): Running => {
    if (running === undefined) throw new Error('it runs only during the tests of its block')
    return running
  }
  return new Proxy(Object.create(null), {
    get: (_, name) => Reflect.get(get(), name),
    has: (_, name) => Reflect.has(get(), name),
    ownKeys: () => Reflect.ownKeys(get()),
    getOwnPropertyDescriptor: (_, name) => {
      const found = Reflect.getOwnPropertyDescriptor(get(), name)
      return found && { ...found, configurable: true }
    },
  })
}

export type Person = ApiClient & { email: string; userId: string; organizationId: string }

const Me = z.object({ organizations: z.array(z.object({ id: z.string(), name: z.string(), role: z.string() })) })

/** Returns the organizations of the requesting user, with their roles. */
export const organizationsOf = async (api: ApiClient) => Me.parse((await api.expectOk('GET', '/me')).body).organizations

export type WorldOptions = Partial<StartOptions> & {
  /** Whether the tests leave more than rows behind, such as counts in memory. Implied by `services`. */
  isOwn?: boolean
}

let silent = 0

/**
 * Returns the real application with an empty database. An earlier test may have used the application. The caller closes
 * it.
 */
export const startWorld = async ({ kind = anyDatabase, isOwn = false, ...options }: WorldOptions) => {
  const start = isOwn || options.services !== undefined ? startOwnApp : takeKeptApp
  const { app, database, smtp, close } = await start({ kind, ...options })
  const { db } = app.services

  const person = async (): Promise<Person> => {
    const api = await signUp(app.origin)
    const [own] = await organizationsOf(api)
    return { ...api, organizationId: own?.id ?? '' }
  }

  return {
    ...app,
    db,
    smtp,
    http: app.app.http,
    databaseUrl: database.url,
    baseUrl: app.settings.baseUrl,
    /** Starts another application on the same database, which clients see as the same installation. */
    another: (environment: Record<string, string> = {}) =>
      startTestApp({ databaseUrl: database.url, env: { PATCHBAY_BASE_URL: app.origin, ...environment } }),
    /** Signs up a user with their own organization. */
    person,
    /** Signs up a user who belongs to this organization in addition to their own. */
    member: async (organizationId: string, role: Role): Promise<Person> => {
      const one = await person()
      await db.membership.create({ data: { organizationId, userId: one.userId, role } })
      return one
    },
    /** Adds a member who never signs in, so that no password has to be hashed. */
    silentMember: async (organizationId: string, role: Role): Promise<string> => {
      const email = `silent${++silent}@example.com`
      const memberships = { create: { organizationId, role } }
      return (await db.user.create({ data: { email, passwordHash: '', memberships } })).id
    },
    /** Returns the token of the newest invitation link sent to an email address. */
    linkTo: (email: string): string => {
      const tokens = smtp.received.flatMap(({ to, text }) =>
        to.includes(email) ? (/\/invitation\?token=([\w-]{43})/.exec(text)?.[1] ?? []) : [],
      )
      return tokens.at(-1) ?? 'no letter came'
    },
    /** Returns the audit log of an organization, oldest first. */
    auditOf: async (organizationId: string): Promise<string[]> =>
      (await db.auditEntry.findMany({ where: { organizationId }, orderBy: { id: 'asc' } })).map(({ action }) => action),
    close,
  }
}

/** Runs the real application with its own database for the tests of a block. */
export const runPatchbay = (options: WorldOptions = {}) => during(() => startWorld(options))

/** Signs up a user for the tests of a block. */
export const runUser = (patchbay: { origin: string }, email?: string) => during(() => signUp(patchbay.origin, email))

/** Runs an HTTP API for the tests of a block. */
export const runFakeApi = (answer: Answerer = echo) => during(() => startFakeApi(answer))
