import { formText } from '../../lib/http/pages/forms.ts'
import type { PageData } from '../../lib/http/pages/views.ts'
import { formatCount, formatNumber } from '../../lib/kernel/format.ts'
import type { PublicReach } from '../../servers/access/public-reach.ts'
import type { ServerFrame } from '../frame/server-frame.ts'

/**
 * The fields that the confirmation adds to a form that makes a server public: the version of what the user has seen,
 * and the button that leads back.
 */
export const PublicStepForm = { sure: formText, step: formText }

export const PUBLIC_STEP_VIEW = 'access/public-step'

/** Maximum number of names in each list. The others are only counted. */
const MAX_LISTED = 30
/** Maximum number of tools named beside a secret. */
const MAX_USES = 3

const listOf = <T>(items: readonly T[]) => ({
  items: items.slice(0, MAX_LISTED),
  more: items.length > MAX_LISTED ? `and ${formatNumber(items.length - MAX_LISTED)} more` : undefined,
})

const toUses = (names: readonly string[]): string => {
  const rest = names.length - MAX_USES
  return [...names.slice(0, MAX_USES), ...(rest > 0 ? [`${formatNumber(rest)} more`] : [])].join(', ')
}

const toUndeclaredText = (count: number): string | undefined =>
  count === 0
    ? undefined
    : `${formatCount(count, 'tool')} of attached MCP servers may change data and ${count === 1 ? 'does' : 'do'} not say whether ${count === 1 ? 'it is' : 'they are'} destructive.`

const toUnknownText = (names: readonly string[]): string | undefined =>
  names.length === 0
    ? undefined
    : `Every request is passed to ${toUses(names)}. Patchbay does not know the tools there, so check what they can do.`

/** A form that would make a server public: where it is sent and its fields as typed. */
type PendingForm = { server: ServerFrame; action: string; fields: Readonly<Record<string, string>>; sure: string }

/**
 * Returns the page that names what a server would open to everyone, and submits the same form again. Returns undefined
 * if the user has confirmed exactly this.
 */
export const toPublicStep = (
  { server, action, fields, sure }: PendingForm,
  { version, secrets, accounts, destructive, undeclared, unknown }: PublicReach,
): PageData | undefined => {
  if (sure === version) return undefined
  return {
    title: `Make ${server.name} public`,
    server,
    action,
    fields: Object.entries(fields).map(([name, value]) => ({ name, value })),
    sure: version,
    isChanged: sure !== '',
    secrets: listOf(secrets.map(({ key, usedBy }) => ({ key, usedBy: toUses(usedBy) }))),
    accounts: listOf(accounts),
    destructive: listOf(destructive),
    undeclaredText: toUndeclaredText(undeclared),
    unknownText: toUnknownText(unknown),
  }
}
