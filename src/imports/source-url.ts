import { AppError } from '../lib/kernel/errors.ts'
import type { Sealed, Sealing } from '../lib/process/sealing.ts'

/** Stands for a value of a query that is not shown. It is valid in a URL. */
const HIDDEN = '***'

/**
 * The URL of a source as it is stored. `shown` has no values in its query, one of which may be a token. `sealedUrl` is the
 * whole URL; undefined if nothing is hidden.
 */
export type StoredUrl = { shown: string; sealedUrl: Sealed | undefined }

type UrlColumns = { sealedUrl: string | null; urlKeyId: string | null }

const contextOf = (toolkitId: string) => ({ purpose: 'source', ownerId: toolkitId, name: 'url' })

const pairsOf = (url: URL): string[] => (url.search === '' ? [] : url.search.slice(1).split('&'))

const hideValue = (pair: string): string => {
  const nameEnd = pair.indexOf('=') + 1
  return nameEnd === pair.length ? pair : `${pair.slice(0, nameEnd)}${HIDDEN}`
}

/** Returns a URL, as the standard writes it, without its fragment. */
export const withoutFragment = (url: string): string => {
  const parsed = new URL(url)
  parsed.hash = ''
  return parsed.href
}

/** Returns a URL without its query, which may contain a token, for texts that others keep. */
export const withoutQuery = (url: string): string => {
  const parsed = URL.parse(url)
  return parsed === null ? url : `${parsed.origin}${parsed.pathname}`
}

/** Returns a URL with the values in its query hidden. Other texts stay as they are. */
export const hideQuery = (url: string): string => {
  const parsed = /^https?:/i.test(url) ? URL.parse(url) : null
  if (parsed === null || parsed.search === '') return url
  return `${url.slice(0, url.indexOf('?') + 1)}${pairsOf(parsed).map(hideValue).join('&')}`
}

/** Seals the URL of a toolkit's source if it has something to hide. */
export const sealUrl = (sealing: Pick<Sealing, 'seal'>, toolkitId: string, url: string): StoredUrl => {
  const shown = hideQuery(url)
  return { shown, sealedUrl: shown === url ? undefined : sealing.seal(url, contextOf(toolkitId)) }
}

/** Returns the whole URL of a toolkit's source. Throws SealError if it cannot be decrypted. */
export const openUrl = (sealing: Pick<Sealing, 'open'>, toolkitId: string, { shown, sealedUrl }: StoredUrl): string =>
  sealedUrl === undefined ? shown : sealing.open(sealedUrl, contextOf(toolkitId))

/** Throws `invalid_request` for a URL that somebody has sent back without the values that are hidden in it. */
export const assertWhole = (url: string): void => {
  const parsed = URL.parse(url)
  if (parsed === null || !pairsOf(parsed).some(pair => pair.endsWith(HIDDEN))) return
  const message = `has ${HIDDEN} in place of a hidden value: enter the value`
  throw new AppError('invalid_request', 'The URL is not complete.', { errors: [{ path: 'url', message }] })
}

/** Returns the columns for a URL, apart from the one for what is shown. */
export const toUrlColumns = (sealedUrl: Sealed | undefined): UrlColumns => ({
  sealedUrl: sealedUrl?.text ?? null,
  urlKeyId: sealedUrl?.keyId ?? null,
})

/** Returns the sealed URL from its columns. Undefined if nothing is hidden. */
export const toSealedUrl = ({ sealedUrl, urlKeyId }: UrlColumns): Sealed | undefined =>
  sealedUrl === null || urlKeyId === null ? undefined : { text: sealedUrl, keyId: urlKeyId }
