/** As the environment and files give it. */
export type Given = NodeJS.Dict<string>

const keyConflictsOf = ({ NODE_ENV, DATABASE_URL, PATCHBAY_MASTER_KEY }: Given): string[] =>
  NODE_ENV === 'production' && /^postgres(ql)?:/.test(DATABASE_URL ?? '') && PATCHBAY_MASTER_KEY === undefined
    ? ['PATCHBAY_MASTER_KEY is required with PostgreSQL in production: every replica needs the same one']
    : []

/** Settings that mean something only together: the first says where to, and what is `required` goes with it. */
type Group = { head: string; required: string; why: string; rest: readonly string[] }

const GROUPS: readonly Group[] = [
  {
    head: 'PATCHBAY_OIDC_ISSUER',
    required: 'PATCHBAY_OIDC_CLIENT_ID',
    why: 'the provider gives it for Patchbay',
    rest: ['PATCHBAY_OIDC_CLIENT_SECRET', 'PATCHBAY_OIDC_NAME'],
  },
  {
    head: 'PATCHBAY_EMBEDDINGS_URL',
    required: 'PATCHBAY_EMBEDDINGS_MODEL',
    why: 'the endpoint is asked for it by name',
    rest: ['PATCHBAY_EMBEDDINGS_KEY'],
  },
]

const groupConflictsOf = (given: Given, { head, required, why, rest }: Group): string[] => {
  if (given[head] === undefined) {
    const stray = [required, ...rest].filter(name => given[name] !== undefined)
    return stray.map(name => `${name} does nothing without ${head}: set both, or neither`)
  }
  return given[required] === undefined ? [`${required} is required with ${head}: ${why}`] : []
}

/** What no single setting shows wrong, but several together do. Looked for beside settings that are wrong by themselves. */
export const conflictsOf = (given: Given): string[] => [
  ...keyConflictsOf(given),
  ...GROUPS.flatMap(group => groupConflictsOf(given, group)),
]
