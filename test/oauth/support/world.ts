import { signUp } from '../../support/api-client.ts'
import { during, startWorld, type WorldOptions } from '../../support/world.ts'
import { createVisitor, type Visitor } from './visitor.ts'

let owners = 0

/** Starts the real application with a user who has a private server. The application trusts X-Forwarded-For. */
export const startOAuthWorld = async ({ env, ...options }: WorldOptions = {}) => {
  const patchbay = await startWorld({ ...options, env: { PATCHBAY_TRUST_PROXY: '127.0.0.0/8', ...env } })
  const { origin } = patchbay
  /** Owns the servers. */
  const owner = await signUp(origin, `server-owner${++owners}@example.com`)
  /** A browser in which the owner is signed in. */
  const visitor = createVisitor(origin)
  await visitor.signIn(owner.email)
  const makeServer = async (fields: Record<string, unknown> = {}): Promise<string> => {
    const { id } = await owner.create('/servers', { name: 'Shipment desk', access: 'private', ...fields })
    return `${origin}/s/${id}`
  }
  return {
    ...patchbay,
    owner,
    visitor,
    /** The URL of a private server of the owner. */
    serverUrl: await makeServer(),
    /** Creates another server. */
    makeServer,
    /** Signs up a new user and returns their browser. */
    visit: async (email: string): Promise<Visitor> => {
      const other = createVisitor(origin)
      await other.signUp(email)
      return other
    },
  }
}
export type OAuthWorld = Awaited<ReturnType<typeof startOAuthWorld>>

/** Starts the application for the tests of a block. */
export const runOAuthWorld = (options?: WorldOptions) => during(() => startOAuthWorld(options))
