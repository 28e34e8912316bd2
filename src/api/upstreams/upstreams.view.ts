import type { CatalogueItem, StoredCatalogue } from '../../upstreams/catalogue/catalogue.ts'
import { removeHidden } from '../../upstreams/catalogue/hidden-text.ts'
import type { SkippedItem } from '../../upstreams/catalogue/present-tools.ts'
import { keysOfConfig } from '../../upstreams/config/resolve-config.ts'
import type { UpstreamState } from '../../upstreams/upstream.ts'
import type { UpstreamWithGlobals } from '../../upstreams/upstream-reading.ts'

const namesOf = (items: readonly CatalogueItem[]): string[] => items.map(({ name }) => removeHidden(name))

export const toOfferView = ({ catalogue, fetchedAt }: StoredCatalogue, skipped: readonly SkippedItem[]) => ({
  tools: namesOf(catalogue.tools),
  resources: namesOf(catalogue.resources),
  resourceTemplates: namesOf(catalogue.resourceTemplates),
  prompts: namesOf(catalogue.prompts),
  flags: catalogue.flags,
  skipped,
  fetchedAt,
})

const toAuthView = ({ upstream, clientSecretSetAt, account }: UpstreamWithGlobals) => {
  const { auth } = upstream.config
  if (auth.type === 'none') return auth
  return { ...auth, clientSecretSetAt, connection: account && { ...account, brokenSince: account.brokenAt } }
}

/** Returns an upstream as the API shows it. Globals appear by their keys only, so the view contains no secrets. */
export const toUpstreamView = (found: UpstreamWithGlobals, state: UpstreamState, skipped: readonly SkippedItem[]) => {
  const { upstream, missingGlobals, warnings } = found
  const { config } = upstream
  return {
    ...upstream,
    ...config,
    auth: toAuthView(found),
    eager: config.isEager,
    enabled: upstream.isEnabled,
    globals: keysOfConfig(config),
    missingGlobals,
    warnings,
    state,
    skipped,
  }
}
