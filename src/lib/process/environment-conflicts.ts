/** Variables as read from the environment and files. */
export type Given = NodeJS.Dict<string>

const keyConflictsOf = ({ NODE_ENV, DATABASE_URL, PATCHBAY_MASTER_KEY }: Given): string[] =>
  NODE_ENV === 'production' && /^postgres(ql)?:/.test(DATABASE_URL ?? '') && PATCHBAY_MASTER_KEY === undefined
    ? ['PATCHBAY_MASTER_KEY is required with PostgreSQL in production: every replica needs the same one']
    : []

/** Settings that work only together. `head` turns the feature on and requires `required` to be set as well. */
type Group = { head: string; required: string; why: string; rest: readonly string[] }

const GROUPS: readonly Group[] = [
  {
    head: 'PATCHBAY_OIDC_ISSUER',
    required: 'PATCHBAY_OIDC_CLIENT_ID',
    why: 'the provider issues it for Patchbay',
    rest: ['PATCHBAY_OIDC_CLIENT_SECRET', 'PATCHBAY_OIDC_NAME'],
  },
  {
    head: 'PATCHBAY_EMBEDDINGS_URL',
    required: 'PATCHBAY_EMBEDDINGS_MODEL',
    why: 'it names the model in requests to the endpoint',
    rest: ['PATCHBAY_EMBEDDINGS_KEY'],
  },
]

const groupConflictsOf = (given: Given, { head, required, why, rest }: Group): string[] => {
  if (given[head] === undefined) {
    const stray = [required, ...rest].filter(name => given[name] !== undefined)
    return stray.map(name => `${name} has no effect without ${head}: set both, or neither`)
  }
  return given[required] === undefined ? [`${required} is required with ${head}: ${why}`] : []
}

/** Returns errors that involve several settings. Errors in single settings are reported separately. */
export const conflictsOf = (given: Given): string[] => [
  ...keyConflictsOf(given),
  ...GROUPS.flatMap(group => groupConflictsOf(given, group)),
]
