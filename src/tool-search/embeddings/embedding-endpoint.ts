import { z } from 'zod'
import { createTrustedFetch } from '../../lib/outbound/bounded-fetch.ts'
import { OutboundError } from '../../lib/outbound/outbound-request.ts'

/** Texts per request. The response is parsed on the event loop, which takes a few milliseconds for this many. */
export const MAX_TEXTS = 16
/** Maximum numbers in an embedding: twice what the largest models return. */
const MAX_DIMENSIONS = 8_192
/** Enough for MAX_TEXTS embeddings of MAX_DIMENSIONS numbers with all their digits. */
const MAX_RESPONSE_BYTES = 4 * 1_024 * 1_024

export type EmbeddingSettings = {
  url: string
  model: string
  /** Sent as a bearer token; never shown. */
  key: string | undefined
}

/** The endpoint returned no usable embeddings. `message` contains no part of the URL, the key or the response. */
export class EmbeddingError extends Error {
  override readonly name = 'EmbeddingError'
}

const EmbeddingsResponse = z.object({
  data: z.array(
    z.object({ index: z.int().nonnegative(), embedding: z.array(z.number()).nonempty().max(MAX_DIMENSIONS) }),
  ),
})

const parseResponse = (text: string): z.infer<typeof EmbeddingsResponse>['data'] => {
  try {
    return EmbeddingsResponse.parse(JSON.parse(text)).data
  } catch {
    throw new EmbeddingError('its response is not a list of embeddings')
  }
}

/** Returns the vector scaled to length 1, so that a dot product is the cosine. */
const toUnitVector = (numbers: readonly number[]): Float32Array => {
  const vector = Float32Array.from(numbers)
  const length = Math.hypot(...vector)
  if (!(length > 0 && Number.isFinite(length))) throw new EmbeddingError('an embedding has length zero')
  return vector.map(number => number / length)
}

const readVectors = (text: string, count: number): Float32Array[] => {
  const data = parseResponse(text)
  const byIndex = new Map(data.map(({ index, embedding }) => [index, embedding]))
  const inOrder = Array.from({ length: count }, (_, at) => byIndex.get(at) ?? [])
  if (data.length !== count || inOrder.some(({ length }) => length === 0)) {
    throw new EmbeddingError(`it returned ${data.length} embeddings for ${count} texts`)
  }
  if (inOrder.some(({ length }) => length !== inOrder[0]?.length)) {
    throw new EmbeddingError('its embeddings differ in length')
  }
  return inOrder.map(toUnitVector)
}

/** Client of an OpenAI-compatible embeddings endpoint at the URL that the operator has set. */
export const createEmbeddingEndpoint = ({ url, model, key }: EmbeddingSettings, timeoutMs: number) => {
  const net = createTrustedFetch({ timeoutMs, maxResponseBytes: MAX_RESPONSE_BYTES })
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  }
  const send = async (body: string): Promise<{ status: number; text: string }> => {
    try {
      const response = await net.fetch(url, { method: 'POST', headers, body })
      return { status: response.status, text: await response.text() }
    } catch (error) {
      throw error instanceof OutboundError ? new EmbeddingError(`it did not respond (${error.fault})`) : error
    }
  }
  return {
    /** Returns a unit vector for each of at most `MAX_TEXTS` texts, in order, all of one size. Throws EmbeddingError. */
    embed: async (texts: readonly string[]): Promise<Float32Array[]> => {
      const { status, text } = await send(JSON.stringify({ model, input: texts, encoding_format: 'float' }))
      if (status !== 200) throw new EmbeddingError(`it responded with status ${status}`)
      return readVectors(text, texts.length)
    },
    close: (): Promise<void> => net.close(),
  }
}
