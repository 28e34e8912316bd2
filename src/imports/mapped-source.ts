import type { ImportedOperation } from './openapi/imported-operation.ts'

/**
 * A global that servers need for imported tools. `value` is what the source has for it. The value of a secret is for its
 * server only: it is part of no report and no log.
 */
export type ProposedGlobal = {
  key: string
  isSecret: boolean
  value?: string | undefined
  /** Where the requests of the source send it, if it is a secret. */
  origins: readonly string[]
}

/** What was read from a source that consists of requests, such as a Postman collection. */
export type MappedSource = {
  /** Undefined if the source has no name. */
  title: string | undefined
  operations: readonly ImportedOperation[]
  /** The globals of the default bindings of all tools. */
  globals: readonly ProposedGlobal[]
  /** What concerns the source as a whole, as sentences. */
  notes: readonly string[]
}
