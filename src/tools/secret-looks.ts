/** Formats of the keys and tokens of widely used services, and URLs with a password. */
const KNOWN_SECRETS = [
  // OpenSSH's types of public keys begin like a key of Stripe: `sk-ssh-ed25519`.
  /^(?!sk-(?:ssh-ed25519|ecdsa-sha2-nistp256)$)(?:sk|pk|rk|ntn|hf|npm|pbk|lin_api|dop_v1|shpat|figd|tvly|bb_live|r8|gsk|xai|ctx7sk)[-_][A-Za-z0-9_-]{12,}$/,
  // Other values begin with these words too: `key-account-manager`.
  /^(?:pat|key|secret|fc)[-_](?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{12,}$/,
  /^gh[pousr]_[A-Za-z0-9]{20,}$/,
  /^github_pat_[A-Za-z0-9_]{20,}$/,
  /^glpat-[A-Za-z0-9_-]{16,}$/,
  /^xox[abeprs]-[A-Za-z0-9-]{10,}$/,
  /^A(?:KIA|SIA|Iza)[A-Za-z0-9_-]{16,}$/,
  /^eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/,
  /^-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#:@]*:[^\s/?#@]+@/i,
]

/** Returns whether a text has the format of a secret of a widely used service. */
export const hasSecretFormat = (text: string): boolean => KNOWN_SECRETS.some(known => known.test(text))

/** Returns whether a text is long and has a mix of letters and digits that is unusual in names. */
const isRandom = (text: string): boolean =>
  /^[A-Za-z0-9_-]{32,}$/.test(text) &&
  /\d/.test(text) &&
  (/^[0-9a-f]+$/i.test(text) || (/[a-z]/.test(text) && /[A-Z]/.test(text)))

/** Returns whether a text is likely a secret, judging by its format and not by its name. */
export const looksSecret = (text: string): boolean => hasSecretFormat(text) || isRandom(text)

/** Returns whether a text is a placeholder for a value: `<your token>`, `YOUR_API_KEY`. */
export const isPlaceholder = (text: string): boolean =>
  /^<[^<>]*>$|^\[[^[\]]*\]$|^(?:your|my|insert|enter|replace)[-_ ].*$|^x{3,}$|^\.{3}$|^changeme$/i.test(text.trim())

/** Matches the authentication scheme in front of a credential (RFC 9110 §11.4). */
export const AUTHENTICATION_SCHEME = /^(?:Bearer|Basic|Token|ApiKey) +(?=\S)/i
