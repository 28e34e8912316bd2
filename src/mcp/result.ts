import type { ToolResult } from '../execution/index.ts'
import type { Router } from './router.ts'

const isPlainObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Clients that read text only get structured content that is no object as text too (server/tools). */
const withText = (result: ToolResult): ToolResult => {
  const { structuredContent } = result
  if (isPlainObject(structuredContent) || result.content.some(block => block.type === 'text')) return result
  return { ...result, content: [...result.content, { type: 'text', text: JSON.stringify(structuredContent) }] }
}

/** Before 2026-07-28 structured content is an object; anything else goes into the member `result` of one. */
export const renderSessionResult = (result: ToolResult, isOutputWrapped: boolean): string => {
  const { structuredContent } = result
  if (structuredContent === undefined) return JSON.stringify(result)
  const complete = withText(result)
  return JSON.stringify(
    isOutputWrapped || !isPlainObject(structuredContent)
      ? { ...complete, structuredContent: { result: structuredContent } }
      : complete,
  )
}

/** Every result says its type and who made it (2026-07-28, basic). */
export const renderStatelessResult = (router: Router, result: ToolResult): string => {
  const complete = result.structuredContent === undefined ? result : withText(result)
  return `${router.statelessHead},${JSON.stringify(complete).slice(1)}`
}
