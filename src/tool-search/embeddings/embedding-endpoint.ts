import { z } from 'zod'
import { createTrustedFetch, OutboundError } from '../../platform/net/index.ts'

/** Texts asked about at once: the answer is parsed on the event loop, and that many take a few milliseconds. */
export const MAX_TEXTS = 16
/** Numbers of one embedding: twice what the largest models give. */
const MAX_DIMENSIONS = 8_192
/** As many embeddings of that many numbers, each with all of its digits. */
const MAX_ANSWER_BYTES = 4 * 1_024 * 1_024

export type EmbeddingSettings = {
  url: string
  model: string
  /** Sent as a bearer token, and shown nowhere. */
  key: string | undefined
}

/** No embeddings came; `message` is ours, and holds nothing of the address, the key or the answer. */
export class EmbeddingError extends Error {
  override readonly name = 'EmbeddingError'
}

const Answer = z.object({
  data: z.array(
    z.object({ index: z.int().nonnegative(), embedding: z.array(z.number()).nonempty().max(MAX_DIMENSIONS) }),
  ),
})

const parseAnswer = (text: string): z.infer<typeof Answer>['data'] => {
  try {
    return Answer.parse(JSON.parse(text)).data
  } catch {
    throw new EmbeddingError('its answer is no list of embeddings')
  }
}

/** Of length 1, so that the product of two says how near they are. */
const toUnitVector = (numbers: readonly number[]): Float32Array => {
  const vector = Float32Array.from(numbers)
  const length = Math.hypot(...vector)
  if (!(length > 0 && Number.isFinite(length))) throw new EmbeddingError('an embedding has no direction')
  return vector.map(number => number / length)
}

const readVectors = (text: string, count: number): Float32Array[] => {
  const data = parseAnswer(text)
  const byIndex = new Map(data.map(({ index, embedding }) => [index, embedding]))
  const inOrder = Array.from({ length: count }, (_, at) => byIndex.get(at) ?? [])
  if (data.length !== count || inOrder.some(({ length }) => length === 0)) {
    throw new EmbeddingError(`it answered ${data.length} embeddings, not one for each of ${count} texts`)
  }
  if (inOrder.some(({ length }) => length !== inOrder[0]?.length)) {
    throw new EmbeddingError('its embeddings are not of one length')
  }
  return inOrder.map(toUnitVector)
}

const toEmbeddingError = (error: unknown): unknown =>
  error instanceof OutboundError ? new EmbeddingError(`it did not answer (${error.fault})`) : error

/** What turns texts into vectors: an endpoint as OpenAI's for embeddings, at the address that the operator has set. */
export const createEmbeddingEndpoint = ({ url, model, key }: EmbeddingSettings, timeoutMs: number) => {
  const net = createTrustedFetch({ timeoutMs, maxResponseBytes: MAX_ANSWER_BYTES })
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  }
  const send = async (body: string): Promise<{ status: number; text: string }> => {
    try {
      const answer = await net.fetch(url, { method: 'POST', headers, body })
      return { status: answer.status, text: await answer.text() }
    } catch (error) {
      throw toEmbeddingError(error)
    }
  }
  return {
    /** A vector of length 1 for each of at most `MAX_TEXTS` texts, in their order, all of one size. Throws EmbeddingError. */
    embed: async (texts: readonly string[]): Promise<Float32Array[]> => {
      const { status, text } = await send(JSON.stringify({ model, input: texts, encoding_format: 'float' }))
      if (status !== 200) throw new EmbeddingError(`it answered with status ${status}`)
      return readVectors(text, texts.length)
    },
    close: (): Promise<void> => net.close(),
  }
}
