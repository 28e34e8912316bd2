import type { Lifecycle } from '../lib/process/lifecycle.ts'
import type { Logger } from '../lib/process/logger.ts'
import type { Settings } from '../lib/process/settings.ts'
import { createToolEmbeddings, type EmbeddingLimits } from './embeddings/tool-embeddings.ts'
import { createToolFinder } from './ranking/tool-index.ts'

export type ToolSearchNeeds = {
  settings: Pick<Settings, 'embeddings' | 'memory'>
  logger: Logger
  /** Overrides the timeouts of the embeddings endpoint in tests. */
  embeddingLimits: Partial<EmbeddingLimits> | undefined
}

export const toolSearchPlugin = ({ settings, logger, embeddingLimits }: ToolSearchNeeds, lifecycle: Lifecycle) => {
  const embeddings =
    settings.embeddings &&
    createToolEmbeddings({
      settings: settings.embeddings,
      logger,
      limits: { maxBytes: settings.memory.embeddingBytes, ...embeddingLimits },
    })
  if (embeddings !== undefined) lifecycle.onClose(embeddings.close)
  return { finder: createToolFinder(), embeddings }
}
