/** A tool of an attached MCP server. `name` is a valid tool name, made from the one that it has there. */
export type AttachedTool = { upstreamId: string; name: string }

/** Returns what identifies a tool of an attached MCP server for limits, as long as it keeps its name there. */
export const toAttachedToolId = ({ upstreamId, name }: AttachedTool): string => `${upstreamId}/${name}`

/** Returns undefined for the id of a tool of a toolkit. */
export const readAttachedToolId = (id: string): AttachedTool | undefined => {
  const slash = id.indexOf('/')
  return slash === -1 ? undefined : { upstreamId: id.slice(0, slash), name: id.slice(slash + 1) }
}
