import type { Sealing } from '../platform/sealing.ts'
import { type Global, openGlobal, policyOf, type ServerBlueprint } from '../servers/index.ts'
import { checkDefinition } from '../toolkits/index.ts'
import { compileTool, type ExecutionParts, type OpenedGlobals } from './compile-tool.ts'
import { compileUpstreamOffers } from './compile-upstream-offers.ts'
import {
  compileUpstreamTools,
  explainOffFeature,
  type UpstreamSources,
  type UpstreamToolParts,
} from './compile-upstream-tools.ts'
import type { CompiledServer, CompiledTool } from './compiled-server.ts'
import { createMasker } from './masking.ts'

/** Opens the secrets of a server; throws SealError where one does not open. */
export const openGlobals = (globals: readonly Global[], sealing: Sealing): OpenedGlobals => {
  const values = new Map<string, string>()
  const secrets: string[] = []
  const secretKeys = new Set<string>()
  for (const global of globals) {
    const value = openGlobal(global, sealing)
    values.set(global.key, value)
    if (!global.isSecret) continue
    secrets.push(value)
    secretKeys.add(global.key)
  }
  return { values, secretKeys, masker: createMasker(secrets) }
}

/**
 * Makes one immutable value out of a server's rows, after which a call reads no database.
 * `onSkipped` hears of tools that cannot be compiled, such as one that another version saved.
 */
export const compileServer = (
  { server, globals, instances }: ServerBlueprint,
  { sources, absent }: UpstreamSources,
  parts: ExecutionParts & UpstreamToolParts & { sealing: Sealing; onSkipped: (tool: string, reason: string) => void },
): CompiledServer => {
  const opened = openGlobals(globals, parts.sealing)
  const tools: CompiledTool[] = []
  for (const instance of instances) {
    const compiled = checkDefinition(instance.tool)
    if (compiled.ok) tools.push(compileTool(instance, compiled.value, opened, parts))
    else parts.onSkipped(instance.name, compiled.error.map(error => `${error.path} ${error.message}`).join('; '))
  }
  return {
    id: server.id,
    name: server.name,
    description: server.description,
    access: policyOf(server),
    absent,
    explainMissing: sources.length === 0 ? undefined : explainOffFeature(sources),
    offers: compileUpstreamOffers(sources, opened, { ...parts, isGrouped: server.presentation === 'grouped' }),
    tools: [...tools, ...compileUpstreamTools(sources, tools, opened, parts)].sort((a, b) =>
      a.name < b.name ? -1 : 1,
    ),
  }
}
