import type { Settings } from '../lib/process/settings.ts'
import type { TokenCounterFor } from '../lib/tokens/token-counter.ts'
import { createToolkitCatalogue } from './sharing/catalogue.service.ts'
import { createToolLint } from './tool-lint.ts'
import { createToolkitService, type ToolkitServiceParts } from './toolkits.service.ts'
import { createToolService } from './tools.service.ts'

export type ToolsNeeds = ToolkitServiceParts & {
  settings: { limits: Pick<Settings['limits'], 'maxToolTimeoutMs'> }
  tokenCounterFor: TokenCounterFor
}

export const toolsPlugin = ({ settings, tokenCounterFor, ...needs }: ToolsNeeds) => {
  const tools = createToolService({ ...needs, maxTimeoutMs: settings.limits.maxToolTimeoutMs })
  return {
    toolkits: createToolkitService(needs),
    toolkitCatalogue: createToolkitCatalogue(needs),
    tools,
    toolLint: createToolLint({ db: needs.db, tools, tokenCounterFor }),
  }
}
