import type { z } from 'zod'
import type { FindingView, ToolLintView } from '../../tools/findings.schema.ts'
import type { Finding } from '../../tools/lint/finding.ts'
import type { ToolLint } from '../../tools/tool-lint.ts'

export const toFindingView = ({ parameter, at, clients, ...finding }: Finding): z.infer<typeof FindingView> => ({
  ...finding,
  parameter: parameter ?? null,
  at: at ?? null,
  clients: [...clients],
})

export const toToolLintView = ({ encoding, tokens, findings }: ToolLint): z.infer<typeof ToolLintView> => ({
  encoding,
  tokens,
  findings: findings.map(toFindingView),
})
