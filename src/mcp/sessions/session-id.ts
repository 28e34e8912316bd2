import { z } from 'zod'
import { SESSION_VERSIONS } from '../protocol.ts'
import { createSigner, type SigningKey } from '../signer.ts'

const textOrNone = z.string().optional().catch(undefined)

/**
 * The content of a session id, which lets any process serve the session. It is not a credential.
 * Another version of Patchbay may have signed it, with other claims.
 */
const SessionClaims = z.object({
  serverId: z.string(),
  /** The user who started the session. Undefined if anonymous. */
  subject: textOrNone,
  tier: z.enum(['public', 'organization', 'private']),
  version: z.enum(SESSION_VERSIONS),
  /** `name/version`. */
  client: textOrNone,
  /** Names of the capabilities declared by the client. */
  capabilities: z.array(z.unknown()).transform(names => names.filter(name => typeof name === 'string')),
  /** Milliseconds since 1970. */
  madeAt: z.number(),
  /** Distinguishes ids created in the same millisecond. */
  nonce: z.string(),
})
export type SessionClaims = z.infer<typeof SessionClaims>

/** Longer ids are rejected unread. Ours are far shorter. */
const MAX_ID_CHARACTERS = 2_048
/** Maximum length of our ids. Clients send the id in a header of every request, and it is stored with its session. */
const MAX_ISSUED_CHARACTERS = 1_024

export const createSessionIds = (keys: readonly SigningKey[]) => {
  const signer = createSigner(keys, '', MAX_ID_CHARACTERS)
  return {
    /**
     * Issues an id in the form that the specification requires (basic/transports, "Session
     * Management"). Throws if it is too long.
     */
    issue: (claims: SessionClaims): string => {
      const id = signer.sign(claims)
      if (id.length > MAX_ISSUED_CHARACTERS) throw new RangeError(`a session id has ${id.length} characters`)
      return id
    },
    /** Returns undefined if none of our keys signed it. */
    verify: (id: string): SessionClaims | undefined => SessionClaims.safeParse(signer.verify(id)).data,
  }
}
export type SessionIds = ReturnType<typeof createSessionIds>
