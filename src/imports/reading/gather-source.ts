import { failure, type Result, success } from '../../lib/kernel/result.ts'
import type { HttpClient } from '../../lib/outbound/outbound-request.ts'
import type { ImportKind } from '../import.ts'
import { MAX_DOCUMENTS } from '../limits.ts'
import { recognizeDocument } from '../read/recognize.ts'
import type { SourceJob } from '../read-source.ts'
import type { SourceEnd } from '../source-parts.ts'
import { type FetchOptions, fetchDocument } from './fetch-document.ts'
import { describeMissing, sortMissing } from './sort-missing.ts'
import { hashOfSource, type SourceFile } from './source-files.ts'

/** A description whose documents refer to others is read again with them at most this often. */
const MAX_ROUNDS = 5

/** What is to be read. */
export type GivenSource = {
  /** Undefined to recognize it. */
  kind: ImportKind | undefined
  /** Undefined if the builder gave the documents. */
  url: string | undefined
  files: readonly SourceFile[]
  /** Origins that the builder has allowed documents to be fetched from. */
  allowed: readonly string[]
}

/** A source that has been read. */
export type GatheredSource = {
  kind: ImportKind
  end: SourceEnd
  files: readonly SourceFile[]
  /** Origins that the builder must allow before their documents are fetched. */
  needs: readonly string[]
  etag: string | undefined
  lastModified: string | undefined
}

export type GatherParts = {
  http: Pick<HttpClient, 'send'>
  maxBytes: number
  /** Keeps a document in a file. */
  keep: (name: string, bytes: Uint8Array) => Promise<SourceFile>
  /** Reads the documents, which have this hash together, and stores what they have. */
  read: (job: SourceJob, sha256: string) => Promise<Result<SourceEnd, string>>
}

type Opened = Pick<GatheredSource, 'files' | 'etag' | 'lastModified'> & { allowed: ReadonlySet<string> }

const sizeOf = (files: readonly SourceFile[]): number => files.reduce((sum, { size }) => sum + size, 0)

/** Puts the main document first, and recognizes the kind. */
const arrange = (files: readonly SourceFile[], kind: ImportKind | undefined) => {
  const recognized = files.map(recognizeDocument)
  const found = recognized.findIndex(one => one.isMain && (kind ?? one.kind) === one.kind)
  const main = Math.max(0, found)
  const [first] = files.slice(main, main + 1)
  const documents = first === undefined ? [] : [first, ...files.filter(file => file !== first)]
  return { kind: kind ?? recognized[main]?.kind ?? ('openapi' as const), documents }
}

const open = async (
  { url, files, allowed }: GivenSource,
  { http, maxBytes, keep }: GatherParts,
  limits: Pick<FetchOptions, 'organizationId' | 'signal'>,
): Promise<Result<Opened, string>> => {
  const ofFiles = { files, allowed: new Set(allowed), etag: undefined, lastModified: undefined }
  if (url === undefined) return success(ofFiles)
  const fetched = await fetchDocument(http, url, { ...limits, maxBytes })
  if (!fetched.ok) return fetched
  const { bytes, etag, lastModified } = fetched.value
  const origins = [new URL(url).origin, new URL(fetched.value.url).origin]
  const root = await keep(fetched.value.url, bytes)
  return success({ files: [root, ...files], allowed: new Set([...origins, ...allowed]), etag, lastModified })
}

/**
 * Reads a source with all documents that it refers to and that may be fetched: those of the description's own origin, if
 * it came from a URL, and those of origins that the builder has allowed. The error is a sentence.
 */
export const gatherSource = async (
  given: GivenSource,
  parts: GatherParts,
  limits: Pick<FetchOptions, 'organizationId' | 'signal'>,
): Promise<Result<GatheredSource, string>> => {
  const opened = await open(given, parts, limits)
  if (!opened.ok) return opened
  const { allowed, etag, lastModified } = opened.value
  const { kind, documents: arranged } = arrange(opened.value.files, given.kind)
  const files = [...arranged]
  /** Why documents could not be fetched, by URL. */
  const tried = new Map<string, string>()

  const fetchOne = async (url: string): Promise<void> => {
    const maxBytes = Math.max(1, parts.maxBytes - sizeOf(files))
    const fetched = await fetchDocument(parts.http, url, { ...limits, maxBytes, origins: allowed })
    // Under the name by which the others refer to it, whatever it was redirected to.
    if (fetched.ok) files.push(await parts.keep(url, fetched.value.bytes))
    else tried.set(url, fetched.error)
  }

  for (let round = 1; ; round++) {
    const documents = files.map(({ name, path }) => ({ name, path }))
    const read = await parts.read({ kind, documents, maxBytes: parts.maxBytes }, hashOfSource(files))
    if (!read.ok) return failure(read.error)
    const { missing, notes } = read.value
    const sorted = sortMissing(missing, allowed, tried)
    const room = MAX_DOCUMENTS - files.length
    if (sorted.fetchable.length === 0 || round > MAX_ROUNDS || room <= 0) {
      const end = { ...read.value, notes: [...notes, ...describeMissing(sorted, tried)] }
      return success({ kind, end, files, needs: sorted.needs, etag, lastModified })
    }
    for (const url of sorted.fetchable.slice(0, room)) await fetchOne(url)
  }
}
