import type { z } from 'zod'
import { toResponseView } from '../../tools/response/response-rules.ts'
import type { CatalogueItem, StoredCatalogue } from '../../upstreams/catalogue/catalogue.ts'
import { removeHidden } from '../../upstreams/catalogue/hidden-text.ts'
import type { SkippedItem } from '../../upstreams/catalogue/present-tools.ts'
import { listGlobals } from '../../upstreams/config/resolve-config.ts'
import type { Upstream, UpstreamConfig, UpstreamState } from '../../upstreams/upstream.ts'
import type { UpstreamOfferView, UpstreamView } from '../../upstreams/upstreams.schema.ts'
import type { UpstreamWithGlobals } from '../../upstreams/upstreams.service.ts'

type View = z.infer<typeof UpstreamView>

const toStateView = (state: UpstreamState): View['state'] => {
  if (state.kind !== 'failed') return { kind: state.kind }
  const { kind, why, since, nextTryAt } = state
  const next = nextTryAt === undefined ? {} : { nextTryAt: nextTryAt.toISOString() }
  return { kind, why, since: since.toISOString(), ...next }
}

const namesOf = (items: readonly CatalogueItem[]): string[] => items.map(({ name }) => removeHidden(name))

const toSkippedView = (skipped: readonly SkippedItem[]): View['skipped'] =>
  skipped.map(({ kind, item, name, reason }) => ({ kind, item, name, reason }))

export const toOfferView = (
  { catalogue, fetchedAt }: StoredCatalogue,
  skipped: readonly SkippedItem[],
): z.infer<typeof UpstreamOfferView> => ({
  tools: namesOf(catalogue.tools),
  resources: namesOf(catalogue.resources),
  resourceTemplates: namesOf(catalogue.resourceTemplates),
  prompts: namesOf(catalogue.prompts),
  flags: [...catalogue.flags],
  skipped: toSkippedView(skipped),
  fetchedAt: fetchedAt.toISOString(),
})

/** Fields of other transports are null. */
const toPlaceView = (config: UpstreamConfig) => {
  const none = { command: null, args: null, env: null, cwd: null, url: null, urls: null, headers: null }
  if (config.transport !== 'stdio') {
    const { url, urls, headers } = config
    return { ...none, url, urls: urls === undefined ? null : [...urls], headers: { ...headers } }
  }
  const { command, args, env, cwd } = config
  return { ...none, command, args: [...args], env: { ...env }, cwd: cwd ?? null }
}

const toAuthView = ({ upstream, clientSecretSetAt, account }: UpstreamWithGlobals): View['auth'] => {
  const { auth } = upstream.config
  if (auth.type === 'none') return auth
  const { type, per, clientId, scopes } = auth
  return {
    type,
    per,
    clientId: clientId ?? null,
    clientSecretSetAt: clientSecretSetAt?.toISOString() ?? null,
    scopes: scopes === undefined ? null : [...scopes],
    connection:
      account === undefined
        ? null
        : { connectedAt: account.connectedAt.toISOString(), brokenSince: account.brokenAt?.toISOString() ?? null },
  }
}

const toAnswersView = (byName: Upstream['toolAnswers']): View['toolAnswers'] =>
  Object.fromEntries(
    Object.entries(byName).map(([name, { response, ...rest }]) => [
      name,
      { ...(response === undefined ? {} : { response: toResponseView(response) }), ...rest },
    ]),
  )

/** Shows globals by their keys, so that it contains no secrets. */
export const toUpstreamView = (
  found: UpstreamWithGlobals,
  state: UpstreamState,
  skipped: readonly SkippedItem[],
): View => {
  const { upstream, missingGlobals, warnings } = found
  const { config } = upstream
  return {
    id: upstream.id,
    serverId: upstream.serverId,
    name: upstream.name,
    description: upstream.description ?? null,
    transport: config.transport,
    ...toPlaceView(config),
    auth: toAuthView(found),
    eager: config.isEager,
    features: config.features,
    allow: config.allow === undefined ? null : [...config.allow],
    deny: config.deny === undefined ? null : [...config.deny],
    timeoutMs: config.timeoutMs,
    prefix: config.prefix ?? null,
    enabled: upstream.isEnabled,
    responseTokens: { ...upstream.responseTokens },
    toolAnswers: toAnswersView(upstream.toolAnswers),
    globals: [...listGlobals(config)],
    missingGlobals: [...missingGlobals],
    warnings: [...warnings],
    state: toStateView(state),
    skipped: toSkippedView(skipped),
    createdAt: upstream.createdAt.toISOString(),
    updatedAt: upstream.updatedAt.toISOString(),
  }
}
