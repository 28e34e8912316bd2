import { z } from 'zod'
import { createTrustedFetch } from '../../lib/outbound/bounded-fetch.ts'
import { OutboundError } from '../../lib/outbound/outbound-request.ts'

/**
 * Maximum number of texts per request. Parsing the response for this many blocks the event loop for a few milliseconds.
 */
export const MAX_TEXTS = 16
/** Maximum number of dimensions of an embedding, twice as many as the largest models return. */
const MAX_DIMENSIONS = 8_192
/** Maximum response size. Enough for MAX_TEXTS embeddings of MAX_DIMENSIONS numbers with all their digits. */
const MAX_RESPONSE_BYTES = 4 * 1_024 * 1_024

export type EmbeddingSettings = {
  url: string
  model: string
  /** API key, sent as a bearer token and never shown. */
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

/** Returns the vector scaled to length 1, so that the dot product of two vectors is their cosine. */
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

/** Creates a client for the OpenAI-compatible embeddings endpoint whose URL the operator has configured. */
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
    /**
     * Returns a unit vector for each text, in order. All vectors have the same size. Accepts at most `MAX_TEXTS` texts.
     * Throws EmbeddingError.
     */
    embed: async (texts: readonly string[]): Promise<Float32Array[]> => {
      const { status, text } = await send(JSON.stringify({ model, input: texts, encoding_format: 'float' }))
      if (status !== 200) throw new EmbeddingError(`it responded with status ${status}`)
      return readVectors(text, texts.length)
    },
    close: (): Promise<void> => net.close(),
  }
}
