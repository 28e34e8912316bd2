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

/** Returns whether a name suggests a secret: `GITHUB_TOKEN`, `x-api-key`, `--password`. */
export const namesSecret = (name: string): boolean => {
  const words = wordsOf(name)
  return !WORDS_OF_OTHERS.has(words.at(-1) ?? '') && words.some(word => WORDS_OF_SECRETS.has(word))
}

/** Formats of the keys and tokens of widely used services, and URLs with a password. */
const KNOWN_SECRETS = [
  /^(?:sk|pk|rk|pat|key|secret|ntn|hf|npm|pbk|lin_api|dop_v1|shpat|figd|tvly|fc|bb_live|r8|gsk|xai|ctx7sk)[-_][A-Za-z0-9_-]{12,}$/,
  /^gh[pousr]_[A-Za-z0-9]{20,}$/,
  /^github_pat_[A-Za-z0-9_]{20,}$/,
  /^glpat-[A-Za-z0-9_-]{16,}$/,
  /^xox[abeprs]-[A-Za-z0-9-]{10,}$/,
  /^A(?:KIA|SIA|Iza)[A-Za-z0-9_-]{16,}$/,
  /^eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/,
  /^-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#:@]*:[^\s/?#@]+@/i,
]

/** Returns whether a text is long and has a mix of letters and digits that is unusual in names. */
const isRandom = (text: string): boolean =>
  /^[A-Za-z0-9_-]{32,}$/.test(text) &&
  /\d/.test(text) &&
  (/^[0-9a-f]+$/i.test(text) || (/[a-z]/.test(text) && /[A-Z]/.test(text)))

/** Returns whether a text is likely a secret, judging by its format and not by its name. */
export const looksSecret = (text: string): boolean => KNOWN_SECRETS.some(known => known.test(text)) || isRandom(text)

/** Returns whether a text is a placeholder for a value: `<your token>`, `YOUR_API_KEY`. */
export const isPlaceholder = (text: string): boolean =>
  /^<[^<>]*>$|^\[[^[\]]*\]$|^(?:your|my|insert|enter|replace)[-_ ].*$|^x{3,}$|^\.{3}$|^changeme$/i.test(text.trim())
