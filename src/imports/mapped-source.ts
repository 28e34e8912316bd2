import type { ImportedOperation } from './openapi/imported-operation.ts'

/**
 * A global that servers need for imported tools. `value` is what the source has for it. The value of a secret is for its
 * server only: it is part of no report and no log.
 */
export type ProposedGlobal = {
  key: string
  isSecret: boolean
  value?: string | undefined
  /** The origins to which the requests of the source send a secret. */
  origins: readonly string[]
}

/** The tools of a source that consists of requests, such as a Postman collection. */
export type MappedSource = {
  /** Undefined if the source has no name. */
  title: string | undefined
  operations: readonly ImportedOperation[]
  /** The globals of the default bindings of all tools. */
  globals: readonly ProposedGlobal[]
  /** Notes on the source as a whole, as sentences. */
  notes: readonly string[]
}
