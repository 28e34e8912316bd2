import { isDeepStrictEqual } from 'node:util'
import type { Actor } from '../../lib/kernel/actor.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/kernel/json.ts'

/** All actions in the audit log, written as `target.event`. */
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
  'user.suspended',
  'user.restored',
  'user.removed',
  'session.ended',
  'token.created',
  'token.removed',
  'organization.created',
  'organization.renamed',
  'organization.suspended',
  'organization.restored',
  'organization.history_changed',
  'organization.removed',
  'member.added',
  'member.role_changed',
  'member.removed',
  'invitation.created',
  'invitation.accepted',
  'invitation.removed',
  'limit.created',
  'limit.changed',
  'limit.removed',
  'toolkit.created',
  'toolkit.visibility_changed',
  'toolkit.transferred',
  'toolkit.imported',
  'toolkit.removed',
  'server.created',
  'server.access_changed',
  'server.access_requested',
  'server.access_declined',
  'server.origins_changed',
  'server.review_changed',
  'server.presentation_changed',
  'server.answers_changed',
  'server.masking_changed',
  'server.bodies_changed',
  'server.transferred',
  'server.toolkit_updated',
  'server.suspended',
  'server.restored',
  'server.removed',
  'call.removal_began',
  'call.removed',
  'global.set',
  'global.removed',
  'secret.set',
  'secret.removed',
  'secret.origins_changed',
  'upstream.created',
  'upstream.changed',
  'upstream.tools_approved',
  'upstream.tools_rejected',
  'upstream.removed',
  'upstream.connected',
  'upstream.disconnected',
  'oauth_client.created',
  'oauth_client.changed',
  'oauth_client.removed',
  'grant.created',
  'grant.removed',
  'grant.misused',
  'origin.blocked',
  'origin.unblocked',
  'webhook.created',
  'webhook.changed',
  'webhook.enabled',
  'webhook.disabled',
  'webhook.secret_renewed',
  'webhook.removed',
] as const
export type AuditAction = (typeof AUDIT_ACTIONS)[number]

/** Returns the action with this name. If the text ends in a dot, returns all actions that start with it. */
export const actionsOf = (text: string) =>
  AUDIT_ACTIONS.filter(action => action === text || (text.endsWith('.') && action.startsWith(text)))

/** Who acted: a signed-in user, or what is known about someone who is not signed in. */
export type AuditActor = { [Name in 'userId' | 'email' | 'address']?: string | undefined }

type Person = { id: string; email: string }

/** Builds the audit actor for a user and their network address. */
export const userActor = ({ id, email }: Person, address: string | undefined): AuditActor => ({
  userId: id,
  email,
  address,
})

/** A user as the target of an action. */
export const userTarget = ({ id, email }: Person) => ({ type: 'user', id, name: email })

/** The actor as the target of their own action. */
export const selfTarget = ({ userId, email }: Actor) => ({ type: 'user', id: userId, name: email })

export type AuditRecord = {
  action: AuditAction
  /** Undefined for the command line and for actions by Patchbay itself. */
  actor: AuditActor | undefined
  /** The organization whose log contains the entry. If omitted, it is in the installation's log, e.g. for sign-ins. */
  organizationId?: string | undefined
  target: { type: string; id?: string | undefined; name?: string | undefined }
  /** The change: `{field: {from, to}}`, or other details. Never contains secrets, tokens or passwords. */
  change?: JsonObject | undefined
}

/** A stored entry. */
export type AuditEntry = {
  id: string
  at: Date
  action: string
  actorId: string | undefined
  actorEmail: string | undefined
  /** Also undefined if the organization has been deleted. */
  organizationId: string | undefined
  target: { type: string; id: string | undefined; name: string | undefined }
  address: string | undefined
  change: JsonValue | undefined
}

/** The entries that a reader may see. */
export type AuditScope =
  /** Everything, including sign-ins and all organizations. For the operator. */
  | { kind: 'installation' }
  | { kind: 'organization'; organizationId: string }
  /** A user's own actions outside organizations or in organizations that they belong to. */
  | { kind: 'own'; userId: string; organizationIds: readonly string[] }

/** Maximum length of a text in an entry. Fits any email or network address, and enough of any name to recognize it. */
const MAX_TEXT_CHARACTERS = 256
/** Maximum length of a list in an entry, such as the allowed users of a server. */
const MAX_ITEMS = 100

/** Truncates text and replaces characters that some databases cannot store. */
export const toEntryText = (text: string): string => {
  const cut = text.length > MAX_TEXT_CHARACTERS ? `${text.slice(0, MAX_TEXT_CHARACTERS - 1)}…` : text
  return cut.replaceAll('\0', '\ufffd').toWellFormed()
}

const toEntryValue = (value: JsonValue): JsonValue => {
  if (typeof value === 'string') return toEntryText(value)
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map(toEntryValue)
  return isJsonObject(value) ? toEntryChange(value) : value
}

/** Returns the changed fields as `{from, to}`, or undefined if none changed. */
export const differences = (before: JsonObject, after: JsonObject): JsonObject | undefined => {
  const changed = Object.entries(after).filter(([name, to]) => !isDeepStrictEqual(before[name], to))
  if (changed.length === 0) return undefined
  return Object.fromEntries(changed.map(([name, to]) => [name, { from: before[name] ?? null, to }]))
}

/** Truncates every text and list in a change. */
export const toEntryChange = (change: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(change).map(([name, value]) => [toEntryText(name), toEntryValue(value)]))
