import { MAX_CONNECTION_WAIT_MS, MAX_SOCKETS_PER_ORIGIN, SHARES_OF_CREATOR } from '../lib/kernel/limits.ts'
import { createHttpClient, type HttpClientOptions, type HttpFailures } from '../lib/outbound/client.ts'
import type { MemoryShares } from '../lib/outbound/memory-shares.ts'
import type { Lifecycle } from '../lib/process/lifecycle.ts'
import type { Logger } from '../lib/process/logger.ts'
import type { Settings } from '../lib/process/settings.ts'
import type { LimitedInstance } from '../servers/settings/cut-result-listing.ts'
import { createExecutionService, type ExecutionServiceParts } from './execution.service.ts'
import { createListUpkeep } from './list-upkeep.ts'

export type RuntimeNeeds = Omit<
  ExecutionServiceParts,
  'http' | 'limits' | 'sampleBytes' | 'onInternalError' | 'onSkipped' | 'isKnownSmall' | 'listUpkeep'
> & {
  settings: Pick<Settings, 'limits' | 'memory'>
  logger: Logger
  network: Pick<HttpClientOptions, 'policy' | 'connectTimeoutMs' | 'ownOrigins' | 'findCreator' | 'lookup' | 'findBan'>
  responseMemory: MemoryShares
  /** APIs implemented in this process, by origin. Their responses are small. */
  inProcess: NonNullable<HttpClientOptions['inProcess']>
}

/** Creates the service that compiles and calls tools, and the HTTP client for their requests. */
export const runtimePlugin = (
  { settings, logger, network, responseMemory, inProcess, ...needs }: RuntimeNeeds,
  lifecycle: Lifecycle,
) => {
  const { limits, memory } = settings
  const http = createHttpClient({
    ...network,
    maxRedirects: limits.maxRedirects,
    maxSockets: MAX_SOCKETS_PER_ORIGIN,
    share: {
      maxSockets: limits.maxCallsPerOrigin,
      maxSocketsOfCreator: limits.maxCallsPerOrigin * SHARES_OF_CREATOR,
      maxWaitMs: MAX_CONNECTION_WAIT_MS,
    },
    circuits: {},
    memory: responseMemory,
    inProcess,
  })
  const onInternalError = (error: unknown) => logger.error({ err: error }, 'unexpected error in a call')
  const isKnownSmall = ({ tool }: LimitedInstance) =>
    [...inProcess.keys()].some(origin => tool.url.startsWith(`${origin}/`))
  const listUpkeep = createListUpkeep({ ...needs, isKnownSmall, onInternalError })
  lifecycle.onClose(listUpkeep.close)
  // Closed first, because calls may still be cut.
  lifecycle.onClose(http.close)
  lifecycle.addChores({ name: 'check the tool lists of servers', run: listUpkeep.recheck })
  const execution = createExecutionService({
    ...needs,
    http,
    limits,
    sampleBytes: memory.sampleBytes,
    onInternalError,
    isKnownSmall,
    listUpkeep,
    onSkipped: (serverId, tool, reason) =>
      logger.warn({ serverId, item: tool, reason }, 'an item of a server is hidden from its clients'),
  })
  const callFailures: HttpFailures = { listFailing: http.listFailing, countRetries: http.countRetries }
  return { execution, callFailures }
}
