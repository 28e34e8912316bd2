import { type CallBodies, type CallBody, MASKED, STORED_BODY_CHARACTERS } from '../../history/execution-record.ts'
import { withGiven } from './given-secrets.ts'
import { type Masker, MaskingError } from './masking.ts'
import type { ArgumentsToRecord } from './recorded-arguments.ts'

/** Bytes that contain as many characters as are stored, also if each takes the most bytes, and one more. */
const ENOUGH_BYTES = 3 * STORED_BODY_CHARACTERS + 3

/** Masks all of a body before it is cut, because what is cut off in the middle would not be recognized. */
const maskBody = async (masker: Masker, utf8: Buffer | undefined): Promise<CallBody | undefined> => {
  if (utf8 === undefined || utf8.length === 0) return undefined
  const masked = await masker.long.utf8(utf8)
  const text = masked.toString('utf8', 0, ENOUGH_BYTES)
  return text.length <= STORED_BODY_CHARACTERS
    ? { text, isCut: false }
    : { text: text.slice(0, STORED_BODY_CHARACTERS), isCut: true }
}

/** The bodies of a call as they were sent and received, in UTF-8. Undefined if there is none, or if it is no text. */
export type BodiesToRecord = {
  request: string | undefined
  response: Buffer | undefined
  arguments: ArgumentsToRecord
}

/**
 * Returns the bodies of a call as the history stores them. Long ones are masked in the worker pool. A body that cannot
 * be masked is left out.
 */
export const toRecordedBodies = async (
  masker: Masker,
  { request, response, arguments: args }: BodiesToRecord,
): Promise<CallBodies> => {
  const own = withGiven(masker, args)
  if (own === undefined) return { [MASKED]: true }
  try {
    return {
      [MASKED]: true,
      request: await maskBody(own, request === undefined ? undefined : Buffer.from(request)),
      response: await maskBody(own, response),
    }
  } catch (error) {
    if (error instanceof MaskingError) return { [MASKED]: true }
    throw error
  }
}
