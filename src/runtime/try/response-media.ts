import type { StopSignal } from '../../lib/kernel/stop-signal.ts'
import type { OutboundResponse } from '../../lib/outbound/outbound-request.ts'
import type { Masker } from '../../results/mask/masking.ts'
import { decodeText } from '../../results/shape/shape.ts'

/** Maximum size of a file that is shown or offered as a download. It is a part of the page, in base64. */
const MAX_BYTES = 1_500_000

/** The formats that the page knows, by the bytes with which their files begin. SVG is text, and may contain scripts. */
const FORMATS = [
  { type: 'image/png', beginning: /^\x89PNG/ },
  { type: 'image/jpeg', beginning: /^\xff\xd8\xff/ },
  { type: 'image/gif', beginning: /^GIF8[79]a/ },
  { type: 'image/webp', beginning: /^RIFF.{4}WEBP/s },
  { type: 'application/pdf', beginning: /^%PDF-/ },
] as const

/** A response that is not text. `base64` is undefined if it is too large for the page. */
export type ResponseMedia = {
  /** The media type by the file's first bytes, whatever the API declares. Undefined if the format is not known. */
  type: (typeof FORMATS)[number]['type'] | undefined
  base64: string | undefined
}

const formatOf = (body: Buffer): ResponseMedia['type'] => {
  const beginning = body.subarray(0, 16).toString('latin1')
  return FORMATS.find(format => format.beginning.test(beginning))?.type
}

/** Returns the file in a response, with secrets overwritten. Returns undefined if the response is text or empty. */
export const findMedia = async (
  response: OutboundResponse | undefined,
  masker: Masker,
  signal: StopSignal,
): Promise<ResponseMedia | undefined> => {
  if (response === undefined || response.body.length === 0 || decodeText(response) !== undefined) return undefined
  const { body } = response
  const shown = body.length > MAX_BYTES ? undefined : await masker.long.bytes(body, signal)
  return { type: formatOf(body), base64: shown?.toString('base64') }
}
