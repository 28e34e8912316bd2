export { createToolFinder, type ToolFinder } from './tool-finder.ts'
export type { ToolIndex } from './tool-index.ts'
export { type ToolText, textOfTool } from './tool-words.ts'
