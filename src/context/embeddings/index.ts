export type { EmbeddingSettings } from './embedding-endpoint.ts'
export { fuseOrders } from './fuse.ts'
export {
  createToolEmbeddings,
  type EmbeddingLimits,
  NEAREST_TOOLS,
  type ToolEmbeddings,
  type ToolMeanings,
} from './tool-embeddings.ts'
