import { afterAll, beforeAll } from 'vitest'
import { z } from 'zod'
import type { Role } from '../../src/lib/kernel/roles.ts'
import { type ApiClient, signUp } from '../support/api-client.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { type DatabaseKindForTests, databaseKinds } from '../support/databases.ts'
import { type SmtpServer, startSmtpServer } from '../support/smtp-server.ts'

export const PASSWORD = 'correct horse battery staple'

const [sqlite] = databaseKinds
if (sqlite === undefined) throw new Error('there is no database to test on')
/** For tests that do not depend on the database. */
const anyDatabase: DatabaseKindForTests = sqlite

export type Person = ApiClient & { email: string; userId: string; organizationId: string }

const Me = z.object({ organizations: z.array(z.object({ id: z.string(), name: z.string(), role: z.string() })) })

/** Returns the organizations of the requesting user, with their roles. */
export const organizationsOf = async (api: ApiClient) => Me.parse((await api.expectOk('GET', '/me')).body).organizations

let silent = 0

type Running = { app: TestApp; smtp: SmtpServer; drop: () => Promise<void> }

/** Starts the real application with a mail server, for the tests of one block. */
export const runWorld = (kind: DatabaseKindForTests = anyDatabase, env: Record<string, string> = {}) => {
  let running: Running | undefined
  beforeAll(async () => {
    const database = await kind.create()
    const smtp = await startSmtpServer()
    const app = await startTestApp({ databaseUrl: database.url, env: { SMTP_URL: smtp.url, ...env } })
    running = { app, smtp, drop: database.drop }
  })
  afterAll(async () => {
    await running?.app.close()
    await running?.smtp.close()
    await running?.drop()
  })
  const get = (): Running => {
    if (running === undefined) throw new Error('it runs only during the tests of its block')
    return running
  }

  /** Signs up a user with their own organization. */
  const person = async (): Promise<Person> => {
    const api = await signUp(get().app.origin)
    const [own] = await organizationsOf(api)
    return { ...api, organizationId: own?.id ?? '' }
  }

  /** Signs up a user who belongs to an organization besides their own. */
  const member = async (organizationId: string, role: Role): Promise<Person> => {
    const one = await person()
    await get().app.services.db.membership.create({ data: { organizationId, userId: one.userId, role } })
    return one
  }

  /** Adds a member who never signs in, so that no password has to be hashed. */
  const silentMember = async (organizationId: string, role: Role): Promise<string> => {
    const email = `silent${++silent}@example.com`
    const memberships = { create: { organizationId, role } }
    return (await get().app.services.db.user.create({ data: { email, passwordHash: '', memberships } })).id
  }

  return {
    get origin() {
      return get().app.origin
    },
    get db() {
      return get().app.services.db
    },
    get baseUrl() {
      return get().app.settings.baseUrl
    },
    get smtp() {
      return get().smtp
    },
    person,
    member,
    silentMember,
    /** Returns the token of the newest invitation link sent to an email. */
    linkTo: (email: string): string => {
      const tokens = get().smtp.received.flatMap(({ to, text }) =>
        to.includes(email) ? (/\/invitation\?token=([\w-]{43})/.exec(text)?.[1] ?? []) : [],
      )
      return tokens.at(-1) ?? 'no letter came'
    },
    /** Returns the audit log of an organization, oldest first. */
    auditOf: async (organizationId: string): Promise<string[]> =>
      (await get().app.services.db.auditEntry.findMany({ where: { organizationId }, orderBy: { id: 'asc' } })).map(
        ({ action }) => action,
      ),
    /** Returns the status that a server sends to a new MCP client. */
    statusAt: async (serverId: string, { token }: ApiClient): Promise<number> => {
      const response = await fetch(`${get().app.origin}/s/${serverId}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          authorization: `Bearer ${token}`,
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'initialize',
          params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
        }),
      })
      await response.body?.cancel()
      return response.status
    },
  }
}
