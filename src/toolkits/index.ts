export { createToolkitCatalogue, type ToolkitCatalogue } from './catalogue.service.ts'
export { findMove } from './destination.ts'
export { FindingView } from './findings.schema.ts'
export { toFindingView } from './findings.view.ts'
export { createSchemaCheck, type SchemaCheck } from './json-schema.ts'
export {
  acceptUpdate,
  assertVersion,
  compareSnapshot,
  type SnapshotDifference,
  takeSnapshot,
} from './snapshots.ts'
export type { Snapshot, Tool, ToolAnnotations, ToolDefinition, Toolkit, ToolkitCard } from './tool.ts'
export { assertDefinition, assertDefinitionSize, type CompiledDefinition, checkDefinition } from './tool-definition.ts'
export { createToolLint, type ToolLint, type ToolLintService } from './tool-lint.ts'
export { createToolOutlines, type ParameterHead } from './tool-outlines.ts'
export { TOOLS_PER_PAGE, toToolPage, toToolRow } from './tool-row.ts'
export { toolkitPages } from './toolkit.pages.ts'
export { toolkitsPages } from './toolkits.pages.ts'
export { toolkitRoutes } from './toolkits.routes.ts'
export { CreateTool, CreateToolkit } from './toolkits.schema.ts'
export {
  createToolkitService,
  noToolkit,
  type ServerRef,
  type ToolkitService,
  type Uses,
} from './toolkits.service.ts'
export { countToolkits, findSnapshot, findUsableToolkit, listSnapshots, removeToolkit } from './toolkits.store.ts'
export { createToolService, type ToolService } from './tools.service.ts'
export { toTool } from './tools.store.ts'
