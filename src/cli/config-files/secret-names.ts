const WORDS_OF_SECRETS: ReadonlySet<string> = new Set(
  'token secret password passwd passphrase pwd pass key apikey credential credentials auth authorization bearer cookie pat jwt dsn'.split(
    ' ',
  ),
)
/**
 * Last words of names that refer to a property of a secret, such as its location or size, rather than to the secret
 * itself.
 */
const WORDS_OF_OTHERS: ReadonlySet<string> = new Set(
  'file path dir directory id name url uri host port type mode method count limit ttl timeout expiry scheme header prefix region version enabled'.split(
    ' ',
  ),
)

const wordsOf = (name: string): string[] =>
  name
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '_')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(word => word !== '')

/**
 * Returns whether the name of a variable, argument or header of an MCP server suggests a secret: `GITHUB_TOKEN`,
 * `x-api-key`, `--password`. Their values are in the file, so in doubt they are hidden. Parameters of tools have a list
 * of their own (tools/secret-parameters.ts).
 */
export const namesSecret = (name: string): boolean => {
  const words = wordsOf(name)
  return !WORDS_OF_OTHERS.has(words.at(-1) ?? '') && words.some(word => WORDS_OF_SECRETS.has(word))
}
