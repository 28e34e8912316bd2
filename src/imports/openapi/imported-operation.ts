import type { z } from 'zod'
import type { JsonObject } from '../../lib/kernel/json.ts'
import type { Finding } from '../../tools/lint/finding.ts'
import type { CreateTool } from '../../tools/toolkits.schema.ts'
import type { Pagination } from './pagination.ts'

/** The definition of a new tool, as the management API accepts it. */
export type NewTool = z.infer<typeof CreateTool>

/** An operation of the description. */
export type OperationSource = {
  /** Method and path, such as `GET /users/{id}`. Unique in the description. */
  key: string
  /** Upper case. */
  method: string
  /** As written in the description. */
  path: string
  operationId: string | undefined
  summary: string | undefined
  tags: readonly string[]
  deprecated: boolean
}

/** A tool made from an operation. Nothing is saved yet. */
export type MappedOperation = OperationSource & {
  tool: NewTool
  /** Tokens of the name, description and input schema, which most clients send to the model. */
  tokens: number
  findings: readonly Finding[]
  /** What the import left out or changed, as sentences for the user. */
  notes: readonly string[]
  /** Proposed, to be turned on once a response has matched it. Undefined if there is nothing to propose. */
  outputSchema: JsonObject | undefined
  pagination: Pagination | undefined
  /** Keys of the globals that the tool is bound to: its base URL and its secrets. */
  globals: readonly string[]
  /** Names of security schemes that the tool cannot use, such as mutual TLS. If there are any, calls will fail. */
  unsupportedSecurity: readonly string[]
}

/** An operation that cannot become a tool. `reason` is a sentence for the user. */
export type RefusedOperation = OperationSource & { reason: string }

export type ImportedOperation = MappedOperation | RefusedOperation

/** Ends the mapping of an operation. The message is the reason for the user. */
export class UnusableOperation extends Error {}
