/** Kinds of things that can be suspended. Origins are blocked instead. */
export const SUSPENDABLE = ['user', 'organization', 'server'] as const
export type Suspendable = (typeof SUSPENDABLE)[number]

/** Something that is suspended at the moment. */
export type Suspension = {
  id: string
  kind: Suspendable
  /** The email address of a user, or the name of an organization or a server. */
  name: string
  /** Only for a server. */
  organizationId: string | undefined
  reason: string
  since: Date
  /** Id of the operator. Undefined for the command line. */
  suspendedById: string | undefined
}

/** An origin to which Patchbay sends no requests. */
export type BlockedOrigin = {
  id: string
  origin: string
  reason: string
  createdById: string | undefined
  createdAt: Date
  updatedAt: Date
}
