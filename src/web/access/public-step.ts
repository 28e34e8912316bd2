import { formText } from '../../lib/http/pages/forms.ts'
import type { PageData } from '../../lib/http/pages/views.ts'
import { formatNumber } from '../../lib/kernel/format.ts'
import type { PublicReach } from '../../servers/access/public-reach.ts'
import type { ServerFrame } from '../frame/server-frame.ts'

/**
 * The fields that the confirmation adds to a form that makes a server public: the version of what the user has seen,
 * and the button that leads back.
 */
export const PublicStepForm = { sure: formText, step: formText }

export const PUBLIC_STEP_VIEW = 'access/public-step'

/** Maximum number of names of each list that are visible. The others are collapsed. */
const MAX_LISTED = 12
/** Maximum number of tools named beside a secret. */
const MAX_USES = 3

const listOf = <T>(items: readonly T[]) => ({
  items: items.slice(0, MAX_LISTED),
  rest: items.slice(MAX_LISTED),
  more: `${formatNumber(items.length - MAX_LISTED)} more`,
})

const toUses = (names: readonly string[]): string => {
  const rest = names.length - MAX_USES
  return [...names.slice(0, MAX_USES), ...(rest > 0 ? [`${formatNumber(rest)} more`] : [])].join(', ')
}

const toUndeclaredText = (count: number): string =>
  count === 1
    ? 'This tool of an attached MCP server may change data and does not say whether it is destructive.'
    : `These ${formatNumber(count)} tools of attached MCP servers may change data and do not say whether they are destructive.`

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
  { version, secrets, written, accounts, destructive, undeclared, unknown }: PublicReach,
): PageData | undefined => {
  if (sure === version) return undefined
  return {
    title: `Make ${server.name} public`,
    server,
    action,
    fields: Object.entries(fields).map(([name, value]) => ({ name, value })),
    sure: version,
    isChanged: sure !== '',
    credentials: listOf([
      ...secrets.map(({ key, usedBy }) => ({ code: key, text: `in ${toUses(usedBy)}` })),
      ...written.map(({ place, usedBy }) => ({ code: place, text: `written out in ${usedBy}` })),
      ...accounts.map(name => ({ code: undefined, text: `The shared account at ${name}` })),
    ]),
    hasWritten: written.length > 0,
    destructive: listOf(destructive.map(name => ({ code: name, text: undefined }))),
    undeclared:
      undeclared.length === 0
        ? undefined
        : {
            text: toUndeclaredText(undeclared.length),
            ...listOf(undeclared.map(name => ({ code: name, text: undefined }))),
          },
    unknownText: toUnknownText(unknown),
  }
}
