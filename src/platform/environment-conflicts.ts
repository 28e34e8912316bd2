/** As the environment and files give it. */
export type Given = NodeJS.Dict<string>

const keyConflictsOf = ({ NODE_ENV, DATABASE_URL, PATCHBAY_MASTER_KEY }: Given): string[] =>
  NODE_ENV === 'production' && /^postgres(ql)?:/.test(DATABASE_URL ?? '') && PATCHBAY_MASTER_KEY === undefined
    ? ['PATCHBAY_MASTER_KEY is required with PostgreSQL in production: every replica needs the same one']
    : []

const OIDC_REST = ['PATCHBAY_OIDC_CLIENT_ID', 'PATCHBAY_OIDC_CLIENT_SECRET', 'PATCHBAY_OIDC_NAME']

const oidcConflictsOf = (given: Given): string[] => {
  if (given.PATCHBAY_OIDC_ISSUER === undefined) {
    const stray = OIDC_REST.filter(name => given[name] !== undefined)
    return stray.map(name => `${name} does nothing without PATCHBAY_OIDC_ISSUER: set both, or neither`)
  }
  return given.PATCHBAY_OIDC_CLIENT_ID === undefined
    ? ['PATCHBAY_OIDC_CLIENT_ID is required with PATCHBAY_OIDC_ISSUER: the provider gives it for Patchbay']
    : []
}

const EMBEDDINGS_REST = ['PATCHBAY_EMBEDDINGS_MODEL', 'PATCHBAY_EMBEDDINGS_KEY']

const embeddingsConflictsOf = (given: Given): string[] => {
  if (given.PATCHBAY_EMBEDDINGS_URL === undefined) {
    const stray = EMBEDDINGS_REST.filter(name => given[name] !== undefined)
    return stray.map(name => `${name} does nothing without PATCHBAY_EMBEDDINGS_URL: set both, or neither`)
  }
  return given.PATCHBAY_EMBEDDINGS_MODEL === undefined
    ? ['PATCHBAY_EMBEDDINGS_MODEL is required with PATCHBAY_EMBEDDINGS_URL: the endpoint is asked for it by name']
    : []
}

/** What no single setting shows wrong, but several together do. Looked for beside settings that are wrong by themselves. */
export const conflictsOf = (given: Given): string[] => [
  ...keyConflictsOf(given),
  ...oidcConflictsOf(given),
  ...embeddingsConflictsOf(given),
]
