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
  /** A private server of the owner's, at its URL. */
  serverUrl: string
  /** Another new one. */
  makeServer: (fields?: Record<string, unknown>) => Promise<string>
  /** A browser of somebody new. */
  visit: (email: string) => Promise<Visitor>
  close: () => Promise<void>
}

/** The real application with somebody who has a private server; it takes X-Forwarded-For at its word. */
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
