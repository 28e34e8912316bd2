import { exactTime } from '../../lib/http/pages/time-text.ts'
import type { Actor } from '../../lib/kernel/actor.ts'
import { formatCount, formatNumber } from '../../lib/kernel/format.ts'
import { DEFAULT_UPSTREAM_TIMEOUT_MS } from '../../upstreams/limits.ts'
import type { AccountInfo } from '../../upstreams/oauth-client/account.ts'
import { connectPath } from '../../upstreams/oauth-client/account-messages.ts'
import type { UpstreamAccounts } from '../../upstreams/oauth-client/upstream-accounts.ts'
import {
  isPerCaller,
  type Upstream,
  type UpstreamConfig,
  type UpstreamFeatures,
  type UpstreamState,
  type UpstreamTransport,
} from '../../upstreams/upstream.ts'
import type { UpstreamWithGlobals } from '../../upstreams/upstream-reading.ts'
import { upstreamPath } from '../frame/server-frame.ts'
import { toAuthChoices, toAuthText } from './auth-form.ts'
import { type TypedUpstream, typedOf } from './upstream-form.ts'

const TRANSPORT_WORDS: Readonly<Record<UpstreamTransport, { text: string; hint: string }>> = {
  http: { text: 'Streamable HTTP', hint: 'The current transport of remote MCP servers.' },
  sse: { text: 'HTTP with SSE', hint: 'The older transport. Addresses often end in /sse.' },
  stdio: { text: 'A command on this machine', hint: 'Started by Patchbay without a shell. Only for the operator.' },
}

/** Returns the transports that the user may choose. */
const toTransportChoices = (mayRunCommands: boolean) =>
  (['http', 'sse', ...(mayRunCommands ? (['stdio'] as const) : [])] as const).map(value => ({
    value,
    ...TRANSPORT_WORDS[value],
  }))

const FEATURES = [
  ['tools', 'Tools'],
  ['resources', 'Resources'],
  ['prompts', 'Prompts'],
] as const

const toFeatureChoices = (typed: Readonly<Record<keyof UpstreamFeatures, string>>) =>
  FEATURES.map(([name, text]) => ({ name, text, isTicked: typed[name] === 'on' }))

const TIMEOUT_HINT = `Default ${formatNumber(DEFAULT_UPSTREAM_TIMEOUT_MS)}.`

/** Returns the data for the fields of an upstream. */
export const toFormData = (typed: TypedUpstream, mayRunCommands: boolean) => ({
  typed,
  transports: toTransportChoices(mayRunCommands),
  features: toFeatureChoices(typed),
  authChoices: toAuthChoices(typed),
  timeoutHint: TIMEOUT_HINT,
})

type ExactTime = ReturnType<typeof exactTime>

/** Describes the state of a connection and the kind of status mark to show for it. */
export const toStateView = (
  state: UpstreamState,
): { text: string; since?: ExactTime; state?: 'idle' | 'slow' | 'failed'; why?: string; retry?: ExactTime } => {
  switch (state.kind) {
    case 'connected':
      return { text: 'connected' }
    case 'connecting':
      return { text: 'connecting', state: 'slow' }
    case 'idle':
      return { text: 'idle, connects on the first call', state: 'idle' }
    case 'disabled':
      return { text: 'switched off', state: 'idle' }
    case 'failed':
      return {
        text: 'failed since',
        since: exactTime(state.since),
        state: 'failed',
        why: state.why,
        ...(state.nextTryAt && { retry: exactTime(state.nextTryAt) }),
      }
  }
}

/** Returns the command, or the URL without its query, because the query may contain a secret. */
const placeText = (config: UpstreamConfig): string =>
  config.transport === 'stdio' ? config.command : (config.url.split(/[?#]/)[0] ?? '')

/** Returns a row for the list of a server's sources. */
export const toUpstreamRow = (
  { upstream, missingGlobals }: UpstreamWithGlobals,
  state: UpstreamState,
  /** The numbers of tools that are waiting for approval and of tools that clients see. Undefined if unknown. */
  { waiting, tools }: { waiting: number | undefined; tools: number | undefined },
) => ({
  href: upstreamPath(upstream.serverId, upstream.id),
  name: upstream.name,
  description: upstream.description,
  transport: TRANSPORT_WORDS[upstream.config.transport].text,
  place: placeText(upstream.config),
  tools: tools === undefined ? undefined : formatCount(tools, 'tool'),
  state: toStateView(state),
  missing: missingGlobals.join(', '),
  waiting: waiting === undefined ? undefined : `${formatCount(waiting, 'change')} to approve`,
})

const featuresText = (features: UpstreamFeatures): string => {
  const on = FEATURES.filter(([name]) => features[name]).map(([, text]) => text.toLowerCase())
  return on.join(', ') || 'nothing'
}

type Fact = { term: string; text: string; isCode?: boolean }

/** Returns an upstream's transport and address. */
export const toPlaceFacts = (upstream: Upstream): Fact[] => {
  const { url, headers, command, args, env, cwd } = typedOf(upstream)
  const { transport } = upstream.config
  const facts: Fact[] =
    transport === 'stdio'
      ? [
          { term: 'Command', text: command, isCode: true },
          { term: 'Arguments', text: args, isCode: true },
          { term: 'Environment', text: env, isCode: true },
          { term: 'Working directory', text: cwd, isCode: true },
        ]
      : [
          { term: 'URL', text: url, isCode: true },
          { term: 'Headers', text: headers, isCode: true },
          { term: 'Authentication', text: toAuthText(upstream.config.auth) },
        ]
  return [{ term: 'Transport', text: TRANSPORT_WORDS[transport].text }, ...facts]
}

/** Returns all settings, for users who may not change them or need to see someone else's changes. */
export const toFacts = (upstream: Upstream): Fact[] => {
  const { config } = upstream
  const { allow, deny, prefix } = typedOf(upstream)
  return [
    { term: 'Name', text: upstream.name },
    { term: 'Description', text: upstream.description ?? '' },
    ...toPlaceFacts(upstream),
    { term: 'Passes on', text: featuresText(config.features) },
    { term: 'Allowed tools', text: allow, isCode: true },
    { term: 'Excluded tools', text: deny, isCode: true },
    { term: 'Prefix', text: prefix, isCode: true },
    { term: 'Timeout', text: `${formatNumber(config.timeoutMs)} ms` },
    { term: 'Connects', text: config.isEager ? 'immediately' : 'with the first call' },
    { term: 'In use', text: upstream.isEnabled ? 'yes' : 'no' },
  ]
}

export const toConnected = (account: AccountInfo | undefined) =>
  account && { since: exactTime(account.connectedAt), isBroken: account.brokenAt !== undefined }

/** Returns the data about an upstream's account; undefined if the upstream needs no account. */
export const readAccountPart = async (
  accounts: Pick<UpstreamAccounts, 'findOwn' | 'countConnectedCallers'>,
  actor: Actor,
  { upstream: { id, config }, account }: UpstreamWithGlobals,
) => {
  if (config.auth.type === 'none') return undefined
  const path = connectPath(id)
  if (!isPerCaller(config)) return { isShared: true, connected: toConnected(account), path }
  const [own, count] = await Promise.all([accounts.findOwn(actor, id), accounts.countConnectedCallers(id)])
  const callers =
    count === 0
      ? 'No caller has connected an account yet. Tools appear once the first caller does.'
      : `${formatCount(count, 'caller')} connected.`
  return { isShared: false, connected: toConnected(own), callers, path }
}

/** Returns the note beside the secret field if a secret is already set. */
export const toSecretNote = ({ clientSecretSetAt }: UpstreamWithGlobals) =>
  clientSecretSetAt && { hint: 'Leave empty to keep it. Set', hintTime: exactTime(clientSecretSetAt) }
