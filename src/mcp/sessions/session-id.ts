import { z } from 'zod'
import { SESSION_VERSIONS } from '../protocol.ts'
import { createSigner, type SigningKey } from '../signer.ts'

const textOrNone = z.string().optional().catch(undefined)

/**
 * The claims in a session id, with which any process can serve the session. The id is not a credential. Another version
 * of Patchbay may have signed it, with different claims.
 */
const SessionClaims = z.object({
  serverId: z.string(),
  /** The user who started the session. Undefined for anonymous callers. */
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

/** Maximum length of an id in a request. Longer ids are rejected without parsing. Ours are far shorter. */
const MAX_ID_CHARACTERS = 2_048
/** Maximum length of our ids. Clients send the id in a header of every request, and it is stored with its session. */
const MAX_ISSUED_CHARACTERS = 1_024

export const createSessionIds = (keys: readonly SigningKey[]) => {
  const signer = createSigner(keys, '', MAX_ID_CHARACTERS)
  return {
    /**
     * Issues an id in the form that the specification requires (basic/transports, "Session Management"). Throws if the
     * id is too long.
     */
    issue: (claims: SessionClaims): string => {
      const id = signer.sign(claims)
      if (id.length > MAX_ISSUED_CHARACTERS) throw new RangeError(`a session id has ${id.length} characters`)
      return id
    },
    /** Returns the claims of an id, or undefined if they are invalid or the id was not signed with one of our keys. */
    verify: (id: string): SessionClaims | undefined => SessionClaims.safeParse(signer.verify(id)).data,
  }
}
export type SessionIds = ReturnType<typeof createSessionIds>
