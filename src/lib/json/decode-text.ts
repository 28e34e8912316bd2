const REPLACEMENT = '\uFFFD'
/** Number of bytes inspected to distinguish binary content from text. */
const SNIFFED_BYTES = 8_192
/** Maximum share of invalid characters in text. Content with a higher share is treated as binary. */
const MAX_BROKEN_SHARE = 0.05
/** Number of invalid characters that is always accepted, even in a short text. */
const FEW_BROKEN = 8

const BINARY_TYPE =
  /^(?:image\/(?!svg\+xml)|audio\/|video\/|font\/|application\/(?:pdf|zip|gzip|x-gzip|x-tar|wasm|vnd\.(?:openxmlformats|ms-)|msword|protobuf|x-protobuf|grpc|cbor|msgpack))/

export type MediaType = { essence: string; charset: string | undefined }

export const parseMediaType = (text: string): MediaType => {
  const [essence = '', ...parameters] = text.toLowerCase().split(';')
  const charset = parameters.map(each => /^\s*charset\s*=\s*"?([\w.:-]+)/.exec(each)?.[1]).find(Boolean)
  return { essence: essence.trim(), charset }
}

const utf16Of = (bytes: Uint8Array): string | undefined => {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : undefined
}

const createDecoder = (label: string, fatal: boolean) => {
  try {
    return new TextDecoder(label, { fatal })
  } catch {
    return undefined
  }
}

const countBroken = (text: string): number => {
  let count = 0
  for (let at = text.indexOf(REPLACEMENT); at >= 0; at = text.indexOf(REPLACEMENT, at + 1)) count++
  return count
}

/**
 * Decodes the text of a result and counts the characters that are invalid in its charset (shown as U+FFFD). Returns
 * undefined for binary content. Content with a NUL is treated as binary unless a charset is declared. The charset is
 * UTF-8 unless a byte order mark or the media type specifies another known charset.
 */
export const decodeText = (
  bytes: Uint8Array,
  { essence, charset }: MediaType,
): { text: string; broken: number } | undefined => {
  if (BINARY_TYPE.test(essence)) return undefined
  const declared = utf16Of(bytes) ?? charset
  const label = declared ?? 'utf-8'
  if (declared === undefined && bytes.subarray(0, SNIFFED_BYTES).includes(0)) return undefined
  try {
    const strict = createDecoder(label, true) ?? new TextDecoder('utf-8', { fatal: true })
    return { text: strict.decode(bytes), broken: 0 }
  } catch {
    const text = (createDecoder(label, false) ?? new TextDecoder()).decode(bytes)
    const broken = countBroken(text)
    return broken > Math.max(FEW_BROKEN, text.length * MAX_BROKEN_SHARE) ? undefined : { text, broken }
  }
}
