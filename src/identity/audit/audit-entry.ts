import { type Actor, isJsonObject, type JsonObject, type JsonValue } from '../../kernel/index.ts'

/** Everything that the audit log tells apart, as `thing.what_happened`. */
export const AUDIT_ACTIONS = [
  'user.signed_up',
  'user.created',
  'user.signed_in',
  'user.sign_in_failed',
  'user.signed_out',
  'user.email_verified',
  'user.email_changed',
  'user.password_changed',
  'user.password_reset',
  'user.second_factor_added',
  'user.second_factor_removed',
  'user.recovery_codes_made',
  'user.recovery_code_used',
  'user.identity_linked',
  'user.identity_unlinked',
  'user.removed',
  'session.ended',
  'token.created',
  'token.removed',
  'organization.created',
  'organization.renamed',
  'organization.removed',
  'member.added',
  'member.role_changed',
  'member.removed',
  'invitation.created',
  'invitation.accepted',
  'invitation.removed',
  'toolkit.created',
  'toolkit.visibility_changed',
  'toolkit.transferred',
  'toolkit.removed',
  'server.created',
  'server.access_changed',
  'server.review_changed',
  'server.presentation_changed',
  'server.answers_changed',
  'server.transferred',
  'server.toolkit_updated',
  'server.removed',
  'global.set',
  'global.removed',
  'secret.set',
  'secret.removed',
  'upstream.created',
  'upstream.changed',
  'upstream.tools_approved',
  'upstream.removed',
  'upstream.connected',
  'upstream.disconnected',
  'oauth_client.created',
  'oauth_client.changed',
  'oauth_client.removed',
  'grant.created',
  'grant.removed',
  'grant.misused',
] as const
export type AuditAction = (typeof AUDIT_ACTIONS)[number]

/** Who did it: a signed-in actor, or what is known of somebody who is not (or not yet). */
export type AuditActor = Pick<Actor, 'address'> & { userId?: string | undefined; email?: string | undefined }

export type AuditRecord = {
  action: AuditAction
  /** Undefined: the command line, or Patchbay itself. */
  actor: AuditActor | undefined
  /** Whose log it stands in. Left out: the installation's, such as of sign-ins. */
  organizationId?: string | undefined
  target: { type: string; id?: string | undefined; name?: string | undefined }
  /** What is different now, as `{field: {from, to}}` or the facts of it. Never a secret, a token or a password. */
  change?: JsonObject | undefined
}

/** An entry as it was written. */
export type AuditEntry = {
  id: string
  at: Date
  action: string
  actorId: string | undefined
  actorEmail: string | undefined
  /** Undefined also where the organization is gone since. */
  organizationId: string | undefined
  target: { type: string; id: string | undefined; name: string | undefined }
  address: string | undefined
  change: JsonValue | undefined
}

/** Whose eyes a reading is for. */
export type AuditScope =
  /** Everything, sign-ins and all organizations: the operator's. */
  | { kind: 'installation' }
  | { kind: 'organization'; organizationId: string }
  /** What a user did, as far as it is theirs alone or in an organization that they are in. */
  | { kind: 'own'; userId: string; organizationIds: readonly string[] }

/** Longest text of an entry: every e-mail address and network address fits, and of a name what tells it apart. */
const MAX_TEXT_CHARACTERS = 256
/** Longest list of an entry, such as of the users that a server lets in. */
const MAX_ITEMS = 100

/** The text as an entry holds it: cut, and of characters that every database can store. */
export const toEntryText = (text: string): string => {
  const cut = text.length > MAX_TEXT_CHARACTERS ? `${text.slice(0, MAX_TEXT_CHARACTERS - 1)}…` : text
  return cut.replaceAll('\0', '\ufffd').toWellFormed()
}

const toEntryValue = (value: JsonValue): JsonValue => {
  if (typeof value === 'string') return toEntryText(value)
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map(toEntryValue)
  return isJsonObject(value) ? toEntryChange(value) : value
}

/** The change as an entry holds it: each text and each list cut. */
export const toEntryChange = (change: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(change).map(([name, value]) => [toEntryText(name), toEntryValue(value)]))
