import { z } from 'zod'
import { IMPORT_KINDS, ImportBaseUrl, ImportGlobal, ReadOperation } from './import.ts'

const MAX_PROBLEM_CHARS = 2_000
const text = z.string()

/** What is known about a source before its operations are. */
export const SourceHead = z.object({
  kind: z.enum(IMPORT_KINDS),
  /** Such as `OpenAPI 3.1.0`. */
  format: text,
  title: text.optional(),
  version: text.optional(),
  description: text.optional(),
  /** Number of operations. */
  total: z.int(),
  webhooks: z.int(),
  tags: z.array(z.object({ name: text, description: text.optional() })),
  baseUrls: z.array(ImportBaseUrl),
  /** All globals that tools may need. */
  globals: z.array(ImportGlobal),
})
export type SourceHead = z.infer<typeof SourceHead>

/** A part of what a job reads. The head comes first. */
export const SourcePart = z.union([
  z.object({ head: SourceHead }),
  z.object({
    operations: z.array(ReadOperation),
    /** Keys of globals, without secrets, for which the source has no value, as far as it has been read. */
    unfilled: z.array(text),
  }),
])
export type SourcePart = z.infer<typeof SourcePart>

/** What is known once all operations have been read. */
export const SourceEnd = z.object({
  /** The base URLs that the tools use. */
  baseUrls: z.array(ImportBaseUrl),
  /** The globals that the tools use, without the values of secrets. */
  globals: z.array(ImportGlobal),
  /** Values of secrets that are in the source, by key. They are part of no report and no log. */
  secrets: z.record(z.string(), text),
  /** Notes on the source as a whole, as sentences. */
  notes: z.array(text),
  /** URLs, or names of files, that a description refers to and that were not given. */
  missing: z.array(text),
})
export type SourceEnd = z.infer<typeof SourceEnd>

/** The output of the job, whose error is a sentence. */
export const SourceOutcome = z.union([
  z.object({ ok: z.literal(true), value: SourceEnd }),
  z.object({ ok: z.literal(false), error: text.max(MAX_PROBLEM_CHARS) }),
])
