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

/** Returns a sentence from a text that may or may not end like one. */
const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`)

/** Returns the sentences that tell those concerned. */
export const suspendedText = (what: SuspendedKind, reason: string): string =>
  `The operator has suspended this ${what}. Reason: ${sentence(reason)}`

/** Throws `forbidden` with the reason if there is one. */
export const assertNotSuspended = (what: SuspendedKind, reason: string | undefined): void => {
  if (reason !== undefined) throw new AppError('forbidden', suspendedText(what, reason))
}

/** Returns the sentence that tells members of an organization. Undefined if it is not suspended. */
export const suspensionOfOrganization = (
  { ofOrganization }: Pick<Suspensions, 'ofOrganization'>,
  organizationId: string,
): string | undefined => {
  const reason = ofOrganization(organizationId)
  return reason === undefined ? undefined : suspendedText('organization', reason)
}

/** Returns the sentence for those who want to use or change a server. Undefined if neither it nor its organization is. */
export const suspensionOfServer = (
  suspensions: Pick<Suspensions, 'ofServer' | 'ofOrganization'>,
  { serverId, organizationId }: { serverId: string; organizationId: string | undefined },
): string | undefined => {
  const own = suspensions.ofServer(serverId)
  if (own !== undefined) return suspendedText('server', own)
  return organizationId === undefined ? undefined : suspensionOfOrganization(suspensions, organizationId)
}
