import { type Actor, may } from '../../lib/kernel/actor.ts'
import type { OriginsBy, SecretOrigins, Server } from '../server.ts'

type Owned = Pick<Server, 'organizationId' | 'ownerId'>

/** Returns whether the actor may set the origins of any of the server's secrets, as long as nobody has set them. */
const managesOrigins = (actor: Actor, { organizationId, ownerId }: Owned): boolean =>
  ownerId === actor.userId || may(actor, organizationId, 'manage')

/** Returns whether the actor may set the origins of a secret that has none. */
export const mayChooseOrigins = (actor: Actor, server: Owned, { storedBy }: Pick<SecretOrigins, 'storedBy'>): boolean =>
  storedBy === actor.userId || managesOrigins(actor, server)

/** Returns whether the actor may change the origins of a secret whose value they do not enter again. */
export const mayChangeOrigins = (
  actor: Actor,
  server: Owned,
  { origins, storedBy }: Pick<SecretOrigins, 'origins' | 'storedBy'>,
): boolean =>
  storedBy === actor.userId ||
  may(actor, server.organizationId, 'manage') ||
  (origins === undefined && server.ownerId === actor.userId)

/** Returns as whom the actor sets the origins of a secret. */
export const originsByOf = (actor: Actor, server: Owned): OriginsBy =>
  managesOrigins(actor, server) ? 'manager' : 'storer'
