import { AppError } from '../../lib/kernel/errors.ts'
import { failure, type Result, success } from '../../lib/kernel/result.ts'
import type { TokenCounter } from '../../lib/tokens/token-counter.ts'
import type { Finding } from '../../tools/lint/finding.ts'
import { lintTool } from '../../tools/lint/lint-tool.ts'
import { toShownTool } from '../../tools/shown-tool.ts'
import { assertDefinition, assertDefinitionSize, type CompiledDefinition } from '../../tools/tool-definition.ts'
import { CreateTool } from '../../tools/toolkits.schema.ts'
import type { NewTool } from './imported-operation.ts'

export type CheckedTool = { tool: NewTool; tokens: number; findings: readonly Finding[] }

/** Compiles a tool as if it were saved. The error is the reason why it would be refused. */
const compileTool = (tool: NewTool): Result<CompiledDefinition, string> => {
  try {
    assertDefinitionSize(tool)
    return success(assertDefinition(tool))
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const [first] = error.errors ?? []
    return failure(first === undefined ? error.message : `${first.path}: ${first.message}`)
  }
}

/**
 * Parses and compiles a tool as if it were saved, lints it and counts its tokens. Its schemas are checked by the
 * meta-schema of JSON Schema 2020-12, but not compiled. The error is a sentence.
 */
export const checkTool = async (written: unknown, count: TokenCounter): Promise<Result<CheckedTool, string>> => {
  const parsed = CreateTool.safeParse(written)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    return failure(`It cannot become a tool: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'it is not valid'}.`)
  }
  const compiled = compileTool(parsed.data)
  if (!compiled.ok) return failure(`It cannot become a tool: ${compiled.error}.`)
  const shown = toShownTool(parsed.data, compiled.value.parameters)
  const { name, description, inputSchema } = shown
  const tokens = await count(JSON.stringify({ name, description, inputSchema }))
  const findings = lintTool(shown, { tokens })
  const invalid = findings.find(({ rule }) => rule === 'invalid-schema')
  if (invalid !== undefined) return failure(`It cannot become a tool: ${invalid.message}`)
  return success({ tool: parsed.data, tokens, findings })
}
