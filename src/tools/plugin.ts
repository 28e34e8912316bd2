import type { Settings } from '../lib/process/settings.ts'
import type { TokenCounterFor } from '../lib/tokens/token-counter.ts'
import type { Job } from '../lib/worker/job.ts'
import { createSchemaChecks } from './schemas/schema-check.ts'
import type { SchemaCheckJob, SchemaCheckOutcome } from './schemas/schema-check-job.ts'
import { createToolkitCatalogue } from './sharing/catalogue.service.ts'
import { createToolLint } from './tool-lint.ts'
import { createToolSelection } from './tool-selection.service.ts'
import { createToolkitService, type ToolkitServiceParts } from './toolkits.service.ts'
import { createToolService } from './tools.service.ts'

export type ToolsNeeds = ToolkitServiceParts & {
  settings: { limits: Pick<Settings['limits'], 'maxToolTimeoutMs'> }
  tokenCounterFor: TokenCounterFor
  checkSchema: Job<SchemaCheckJob, SchemaCheckOutcome>
}

export const toolsPlugin = ({ settings, tokenCounterFor, checkSchema, ...needs }: ToolsNeeds) => {
  const schemaChecks = createSchemaChecks(checkSchema)
  const tools = createToolService({ ...needs, schemaChecks, maxTimeoutMs: settings.limits.maxToolTimeoutMs })
  return {
    toolkits: createToolkitService(needs),
    toolkitCatalogue: createToolkitCatalogue(needs),
    tools,
    toolSelection: createToolSelection(needs),
    schemaChecks,
    toolLint: createToolLint({ db: needs.db, tools, tokenCounterFor }),
  }
}
