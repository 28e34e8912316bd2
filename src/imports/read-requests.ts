import { formatNumber } from '../lib/kernel/format.ts'
import { type JsonValue, measureJson } from '../lib/kernel/json.ts'
import { describeJsonFault, findJsonFault } from '../lib/kernel/json-fault.ts'
import { failure, type Result, success } from '../lib/kernel/result.ts'
import { importCurl } from './curl/import-curl.ts'
import { importHar } from './har/import-har.ts'
import { MAX_DESCRIPTION_BYTES, MAX_DESCRIPTION_DEPTH, MAX_DESCRIPTION_VALUES } from './limits.ts'
import type { MappedSource } from './mapped-source.ts'
import { noRequests } from './no-operations.ts'
import { importPostman } from './postman/import-postman.ts'
import { unpackText } from './read/unpack-text.ts'

/** A source that consists of requests. `environments` are those of Postman. */
export type RequestsSource = {
  kind: 'postman' | 'curl' | 'har'
  /** Name of the document, for errors. */
  name?: string | undefined
  bytes: Uint8Array
  environments?: readonly Uint8Array[]
  /** Of each document, unpacked. */
  maxBytes?: number | undefined
}

/** Longer JSON with an error is not searched for its position, which would take seconds. */
const MAX_SEARCHED_CHARS = 4_000_000

const parseJson = (text: string): Result<JsonValue, string> => {
  if (/^\s*</.test(text)) return failure('It is a page or an XML document, not JSON.')
  const { deepest, containers, commas } = measureJson(text, MAX_DESCRIPTION_VALUES)
  if (deepest > MAX_DESCRIPTION_DEPTH) return failure(`It is nested more than ${MAX_DESCRIPTION_DEPTH} levels deep.`)
  if (containers + commas > MAX_DESCRIPTION_VALUES) {
    return failure(`It has more than ${formatNumber(MAX_DESCRIPTION_VALUES)} values.`)
  }
  try {
    return success(JSON.parse(text))
  } catch {
    const fault = text.length > MAX_SEARCHED_CHARS ? undefined : findJsonFault(text)
    const where = fault === undefined ? 'there is a syntax error' : describeJsonFault(fault)
    return failure(`It is not valid JSON: ${where}.`)
  }
}

const readJson = (bytes: Uint8Array, maxBytes = MAX_DESCRIPTION_BYTES): Result<JsonValue, string> => {
  const text = unpackText(bytes, maxBytes)
  return text.ok ? parseJson(text.value) : text
}

const readPostman = async ({
  bytes,
  environments = [],
  maxBytes,
}: RequestsSource): Promise<Result<MappedSource, string>> => {
  const [collection, ...others] = [bytes, ...environments].map(one => readJson(one, maxBytes))
  if (collection === undefined || !collection.ok) return collection ?? failure('There is no collection.')
  const values: JsonValue[] = []
  for (const other of others) {
    if (!other.ok) return failure(`An environment cannot be read. ${other.error}`)
    values.push(other.value)
  }
  return importPostman(collection.value, values)
}

const mapRequests = async (source: RequestsSource): Promise<Result<MappedSource, string>> => {
  if (source.kind === 'postman') return readPostman(source)
  if (source.kind === 'har') {
    const value = readJson(source.bytes, source.maxBytes)
    return value.ok ? importHar(value.value) : value
  }
  const text = unpackText(source.bytes, source.maxBytes ?? MAX_DESCRIPTION_BYTES)
  return text.ok ? importCurl(text.value) : text
}

/** Reads a source, and maps its requests to tools. The error is a sentence that says what is wrong with it. */
export const readRequests = ({ kind, name, ...source }: RequestsSource): Promise<Result<MappedSource, string>> =>
  // Does not keep the bytes until the requests are read.
  mapRequests({ kind, ...source }).then(read =>
    read.ok && read.value.operations.length === 0 ? failure(noRequests({ kind, name })) : read,
  )
