/** What stands where a secret stood. */
const MASK = '•••'
/** Base64 of shorter secrets is too common a text to look for. */
const MIN_BASE64_CHARACTERS = 6

/** Hides every secret it knows, in any of the forms a request or an echo of it could carry. */
export type Masker = {
  isEmpty: boolean
  text: (text: string) => string
  /** The same bytes, or a copy with each secret overwritten. */
  bytes: (bytes: Buffer) => Buffer
}

/** How the base64 of a text looks wherever it stands in a longer one: the part no neighbour can change. */
const base64Cores = (secret: string): string[] =>
  [0, 1, 2].flatMap(offset => {
    const encoded = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]).toString('base64')
    const unpadded = encoded.replace(/=+$/, '')
    const isCut = encoded !== unpadded
    const core = unpadded.slice(offset === 0 ? 0 : offset + 1, isCut ? -1 : undefined)
    return core.length < MIN_BASE64_CHARACTERS ? [] : [core, core.replaceAll('+', '-').replaceAll('/', '_')]
  })

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)
/** As encoders write it that keep to ASCII, among them Python's and PHP's. */
const inAsciiJson = (text: string): string =>
  inJson(text).replace(/[^\x20-\x7e]/g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
const HTML_ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const inHtml = (text: string): string => text.replace(/[&<>"]/g, char => HTML_ENTITIES[char] ?? char)
const percentEncodings = (text: string): string[] => {
  const encoded = encodeURIComponent(text.toWellFormed())
  const lowerHex = encoded.replace(/%[0-9A-F]{2}/g, hex => hex.toLowerCase())
  return [encoded, lowerHex, new URLSearchParams({ s: text }).toString().slice(2)]
}

/** Every way a secret may be written in a request, and in an answer that quotes the request, perhaps twice over. */
const formsOf = (secret: string): string[] => [
  secret,
  ...percentEncodings(secret),
  inJson(secret),
  inJson(inJson(secret)),
  inAsciiJson(secret),
  inJson(inAsciiJson(secret)),
  inHtml(secret),
  ...base64Cores(secret),
]

const NOTHING_TO_HIDE: Masker = { isEmpty: true, text: text => text, bytes: bytes => bytes }

/** `secrets`: plain values; empty ones are no secrets. */
export const createMasker = (secrets: readonly string[]): Masker => {
  const forms = [...new Set(secrets.filter(secret => secret !== '').flatMap(formsOf))]
  if (forms.length === 0) return NOTHING_TO_HIDE
  // The longest first: a form inside a longer one must not leave the rest of it readable.
  forms.sort((a, b) => b.length - a.length)
  const patterns = forms.map(form => Buffer.from(form))
  return {
    isEmpty: false,
    text: text => {
      let masked = text
      for (const form of forms) if (masked.includes(form)) masked = masked.replaceAll(form, MASK)
      return masked
    },
    bytes: bytes => {
      let masked: Buffer | undefined
      for (const pattern of patterns) {
        for (let at = bytes.indexOf(pattern); at !== -1; at = bytes.indexOf(pattern, at + pattern.length)) {
          masked ??= Buffer.from(bytes)
          masked.fill('*', at, at + pattern.length)
        }
      }
      return masked ?? bytes
    },
  }
}
