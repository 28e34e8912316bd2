import { type ApiClient, signUp } from '../../support/api-client.ts'
import { startTestApp, type TestApp, type TestAppOptions } from '../../support/app.ts'
import { createVisitor, type Visitor } from './visitor.ts'

let owners = 0

export type OAuthWorld = {
  patchbay: TestApp
  origin: string
  /** Owns the servers. */
  owner: ApiClient & { email: string; userId: string }
  /** The owner's browser, signed in. */
  visitor: Visitor
  /** The URL of a private server of the owner. */
  serverUrl: string
  /** Creates another server. */
  makeServer: (fields?: Record<string, unknown>) => Promise<string>
  /** Opens a browser for a new user. */
  visit: (email: string) => Promise<Visitor>
  close: () => Promise<void>
}

/** Starts the real application with a user who has a private server. It trusts X-Forwarded-For. */
export const startOAuthWorld = async (options: TestAppOptions = {}): Promise<OAuthWorld> => {
  const patchbay = await startTestApp({ ...options, env: { PATCHBAY_TRUST_PROXY: '127.0.0.0/8', ...options.env } })
  const { origin } = patchbay
  const owner = await signUp(origin, `server-owner${++owners}@example.com`)
  const visitor = createVisitor(origin)
  await visitor.signIn(owner.email)
  const makeServer = async (fields: Record<string, unknown> = {}): Promise<string> => {
    const { id } = await owner.create('/servers', { name: 'Shipment desk', access: 'private', ...fields })
    return `${origin}/s/${id}`
  }
  return {
    patchbay,
    origin,
    owner,
    visitor,
    serverUrl: await makeServer(),
    makeServer,
    visit: async email => {
      const other = createVisitor(origin)
      await other.signUp(email)
      return other
    },
    close: patchbay.close,
  }
}
