import { AppError } from './errors.ts'

/** Returns why the operator has suspended something. Undefined if it is not suspended. Reads memory only. */
export type Suspensions = {
  ofUser: (userId: string) => string | undefined
  ofOrganization: (organizationId: string) => string | undefined
  ofServer: (serverId: string) => string | undefined
  /** `origin` is scheme, host and port, as in `URL.origin`. */
  ofOrigin: (origin: string) => string | undefined
}

export type SuspendedKind = 'account' | 'organization' | 'server'

/** Returns the sentence that tells those concerned. */
export const suspendedText = (what: SuspendedKind, reason: string): string =>
  `The operator has suspended this ${what}. Reason: ${reason}`

/** Throws `forbidden` with the reason if there is one. */
export const assertNotSuspended = (what: SuspendedKind, reason: string | undefined): void => {
  if (reason !== undefined) throw new AppError('forbidden', suspendedText(what, reason))
}

/** Returns the sentence for those who want to use or change a server. Undefined if neither it nor its organization is. */
export const suspensionOfServer = (
  { ofServer, ofOrganization }: Pick<Suspensions, 'ofServer' | 'ofOrganization'>,
  { serverId, organizationId }: { serverId: string; organizationId: string | undefined },
): string | undefined => {
  const own = ofServer(serverId)
  if (own !== undefined) return suspendedText('server', own)
  const shared = organizationId === undefined ? undefined : ofOrganization(organizationId)
  return shared === undefined ? undefined : suspendedText('organization', shared)
}
