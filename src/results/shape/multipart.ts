/** A body part with its Content-Type header unparsed. */
export type BodyPart = { contentType: string | undefined; body: Buffer }

/** Maximum number of parts. No model could read more. */
const MAX_PARTS = 100
const BOUNDARY = /;\s*boundary\s*=\s*(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i

const toPart = (bytes: Buffer): BodyPart | undefined => {
  // A part without headers starts with a blank line (RFC 2046 §5.1.1).
  if (bytes.indexOf('\r\n') === 0) return { contentType: undefined, body: bytes.subarray(2) }
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const head = bytes.toString('latin1', 0, end)
  return { contentType: /^content-type:[ \t]*(.*)$/im.exec(head)?.[1]?.trim(), body: bytes.subarray(end + 4) }
}

/**
 * Splits a multipart body (RFC 2046 §5.1). Ignores the text before the first delimiter and after the last. Returns
 * undefined if the body is malformed or has too many parts.
 */
export const splitMultipart = (contentType: string, body: Buffer): BodyPart[] | undefined => {
  const match = BOUNDARY.exec(contentType)
  const boundary = match?.[1] ?? match?.[2]
  if (boundary === undefined) return undefined
  // Prepends a line break, so that the first delimiter is found like the others.
  const bytes = Buffer.concat([Buffer.from('\r\n'), body])
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  const parts: BodyPart[] = []
  let at = bytes.indexOf(delimiter)
  while (at !== -1) {
    const after = at + delimiter.length
    if (bytes.toString('latin1', after, after + 2) === '--') return parts.length === 0 ? undefined : parts
    const lineEnd = bytes.indexOf('\r\n', after)
    const next = bytes.indexOf(delimiter, after)
    const part = lineEnd === -1 || next === -1 || lineEnd > next ? undefined : toPart(bytes.subarray(lineEnd + 2, next))
    if (part === undefined || parts.length === MAX_PARTS) return undefined
    parts.push(part)
    at = next
  }
  return undefined
}
