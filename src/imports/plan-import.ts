import { failure, type Result, success } from '../lib/kernel/result.ts'
import { noOperations } from './no-operations.ts'
import type { ImportedOperation, OperationSource } from './openapi/imported-operation.ts'
import type { DescriptionDocument } from './read/documents.ts'
import { type DescriptionSummary, type ReadOptions, type ReadOutcome, readDescription } from './read-description.ts'

/** A tool that an import would create. */
export type PlannedTool = OperationSource & {
  name: string
  url: string
  tokens: number
  notes: readonly string[]
  globals: readonly string[]
  /** Names of security schemes that the tool cannot use. If there are any, calls will fail. */
  unsupportedSecurity: readonly string[]
}

/** What an import would do. Without the definitions, which would take much memory. */
export type ImportPlan = ReadOutcome & {
  summary: DescriptionSummary
  tools: readonly PlannedTool[]
  /** Operations that cannot be imported, with the reason as a sentence. */
  refused: readonly (OperationSource & { reason: string })[]
}

const addTo = (
  plan: { tools: PlannedTool[]; refused: ImportPlan['refused'][number][] },
  one: ImportedOperation,
): void => {
  if ('reason' in one) {
    plan.refused.push(one)
    return
  }
  const { tool, findings: _findings, outputSchema: _schema, pagination: _pagination, ...source } = one
  plan.tools.push({ ...source, name: tool.name, url: tool.url })
}

/** Reads a description and returns the tools that it would become. Runs as a job. The error is a sentence. */
export const planImport = async ({
  documents,
  options,
}: {
  documents: readonly DescriptionDocument[]
  options: ReadOptions
}): Promise<Result<ImportPlan, string>> => {
  const read = readDescription(documents, options)
  if (!read.ok) return failure(read.error)
  const { summary, batches } = read.value
  const plan = { tools: [], refused: [] }
  for (;;) {
    const batch = await batches.next()
    if (batch.done === true) {
      const { missing } = batch.value
      const isEmpty = plan.tools.length + plan.refused.length + missing.length === 0
      const name = documents[0]?.name ?? 'the source'
      return isEmpty ? failure(noOperations({ ...summary, name })) : success({ summary, ...plan, ...batch.value })
    }
    for (const operation of batch.value) addTo(plan, operation)
  }
}
