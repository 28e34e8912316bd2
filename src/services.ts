import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { createCatalogueReports } from './api/servers/catalogue-reports.ts'
import { type EventMailTiming, eventMailsPlugin } from './event-mails/plugin.ts'
import { historyPlugin } from './history/plugin.ts'
import type { HashingCost } from './identity/passwords.ts'
import { identityPlugin } from './identity/plugin.ts'
import { createImportApplying } from './imports/apply/apply-import.service.ts'
import { importsPlugin } from './imports/plugin.ts'
import { openInstallation, setupOf } from './installation.ts'
import { createJobPool } from './jobs/job-pool.ts'
import { createDatabaseCounters } from './lib/db/counters.store.ts'
import { createDatabaseHealth } from './lib/db/health.ts'
import { createChanges } from './lib/events/changes.ts'
import { createEventBus } from './lib/events/event-bus.ts'
import {
  CONNECT_TIMEOUT_MS,
  CREATOR_MEMORY_SHARE,
  MAX_MEMORY_WAIT_MS,
  ORGANIZATION_MEMORY_SHARE,
} from './lib/kernel/limits.ts'
import { createMailer } from './lib/mail/create-mailer.ts'
import { type AddressPolicy, createAddressPolicy } from './lib/outbound/address-policy.ts'
import type { HttpClientOptions } from './lib/outbound/client.ts'
import { createMemoryShares } from './lib/outbound/memory-shares.ts'
import { createNameResolver, type NameResolverOptions, toLookup } from './lib/outbound/name-resolver.ts'
import { createGarbageCollector } from './lib/process/collect-garbage.ts'
import { watchFileDescriptors } from './lib/process/file-descriptors.ts'
import { createLifecycle, type Lifecycle } from './lib/process/lifecycle.ts'
import type { Logger } from './lib/process/logger.ts'
import { watchLoopDelay } from './lib/process/loop-delay.ts'
import { createNotices } from './lib/process/notices.ts'
import type { Settings } from './lib/process/settings.ts'
import { createUpkeep } from './lib/process/upkeep.ts'
import { watchVitals } from './lib/process/vitals.ts'
import { createTokenWork } from './lib/tokens/token-work.ts'
import { limitsPlugin } from './limits/plugin.ts'
import { endClientsOf } from './oauth/clients/oauth-clients.store.ts'
import { endGrantsOf } from './oauth/grants/consents.store.ts'
import { oauthPlugin } from './oauth/plugin.ts'
import { enterChanges } from './outbox/outbox.store.ts'
import { passthroughPlugin } from './passthrough/route/plugin.ts'
import type { ResponseCacheOptions } from './results/cache/response-cache.ts'
import { resultsPlugin } from './results/plugin.ts'
import { createCallHistory } from './runtime/history/call-history.service.ts'
import { runtimePlugin } from './runtime/plugin.ts'
import { SAMPLE_ORIGIN, sampleApi } from './sample/sample-api.ts'
import { SAMPLE_TITLE, SAMPLE_TOOLS } from './sample/sample-toolkit.ts'
import type { VerifyMcpToken } from './servers/access/access.ts'
import { holdings } from './servers/bindings/holdings.store.ts'
import { createGlobalOpener, listGlobals } from './servers/globals/globals.store.ts'
import { setFirstOrigins } from './servers/origins/first-origins.ts'
import { createOriginSettling } from './servers/origins/secret-origins.ts'
import { serversPlugin } from './servers/plugin.ts'
import { adoptDemoServers } from './servers/samples/adopt-demo.ts'
import { findServerToCall } from './servers/server-to-call.ts'
import { getServerFor } from './servers/servers.service.ts'
import { uses } from './servers/sources/toolkit-uses.store.ts'
import { listAllInstanceNames } from './servers/tools/instances.store.ts'
import { createFindBan } from './suspensions/find-ban.ts'
import { suspensionsPlugin } from './suspensions/plugin.ts'
import { invitationsForSignUp } from './tenancy/invitations/invitation-acceptance.ts'
import { createCreatorLookup } from './tenancy/organization-creators.ts'
import { tenancyPlugin } from './tenancy/plugin.ts'
import type { EmbeddingLimits } from './tool-search/embeddings/tool-embeddings.ts'
import { toolSearchPlugin } from './tool-search/plugin.ts'
import { toolsPlugin } from './tools/plugin.ts'
import { createStateDigest } from './upstreams/config/state-digest.ts'
import type { ConnectionLimits } from './upstreams/connection/shared-connection.ts'
import { upstreamsPlugin } from './upstreams/plugin.ts'
import type { Upstream, UpstreamState } from './upstreams/upstream.ts'
import { type WebhookTiming, webhooksPlugin } from './webhooks/plugin.ts'

/** Returns the origins at which requests reach Patchbay itself: its public URL and its port on this machine. */
const ownOriginsOf = ({ baseUrl, port }: Settings): string[] => {
  const urls = [baseUrl, ...['127.0.0.1', 'localhost', '[::1]'].map(host => `http://${host}:${port}`)]
  return urls.map(url => new URL(url).origin)
}

export type ServiceOptions = {
  /** Overrides which addresses client metadata documents may be fetched from, for tests on loopback. */
  documents?: Pick<HttpClientOptions, 'policy' | 'lookup'>
  /** Overrides timeouts and size limits for connections to upstreams. */
  connectionLimits?: Partial<ConnectionLimits>
  /** Overrides which name servers are asked, and the deadline of lookups. */
  names?: Partial<NameResolverOptions>
  /** Overrides which addresses upstreams may have, for the operator's own configuration file. */
  upstreamPolicy?: AddressPolicy
  /** Overrides the limits and the clock of the response cache. */
  responseCache?: ResponseCacheOptions
  /** Overrides the query timeout and the retry pause for the embedding endpoint. */
  embeddingLimits?: Partial<EmbeddingLimits>
  /** Overrides the clocks by which limits are counted. */
  limitClock?: (() => number) | undefined
  /** Overrides the cost of password hashing, for tests of other features. */
  hashingCost?: HashingCost | undefined
  /** Overrides the module that the threads and processes of the job pool run. */
  jobsWorker?: string | undefined
  /** Overrides when events are delivered, and tried again. */
  webhooks?: WebhookTiming & EventMailTiming
}

/** The memory for the responses of APIs and attached MCP servers. */
const createResponseMemory = ({ inFlightBytes, totalMb }: Settings['memory']) =>
  createMemoryShares({
    maxBytes: inFlightBytes,
    maxBytesOfOrganization: inFlightBytes * ORGANIZATION_MEMORY_SHARE,
    maxBytesOfCreator: inFlightBytes * CREATOR_MEMORY_SHARE,
    maxWaitMs: MAX_MEMORY_WAIT_MS,
    collectGarbage: createGarbageCollector(totalMb),
  })

/** Starts the services in order. `lifecycle` closes them in reverse order. */
const openServices = async (settings: Settings, logger: Logger, options: ServiceOptions, lifecycle: Lifecycle) => {
  const { documents, connectionLimits, responseCache, embeddingLimits, hashingCost } = options
  const { db, sealing } = await openInstallation(settings)
  lifecycle.onClose(() => db.close())
  await setFirstOrigins({ db, sealing, logger })
  const notices = createNotices(logger)
  lifecycle.onClose(watchFileDescriptors(notices).close)
  const databaseHealth = createDatabaseHealth({ db, notices })
  lifecycle.onClose(databaseHealth.close)
  const bus = createEventBus({ logger })
  const changes = await createChanges({ db, target: settings.database, bus, logger, enter: enterChanges })
  lifecycle.onClose(changes.close)
  const suspending = await suspensionsPlugin({ db, bus, changes, logger }, lifecycle)
  const { suspensions } = suspending
  const mailer = createMailer({
    smtpUrl: settings.smtpUrl,
    outboxDirectory: join(settings.dataDirectory, 'outbox'),
    from: settings.mailFrom,
    logger,
  })
  lifecycle.onClose(mailer.close)
  const counters = createDatabaseCounters(db)
  const setup = setupOf(settings, sealing.derive('setup token'))
  const ownOrigins = ownOriginsOf(settings)
  const policy = createAddressPolicy({ allow: settings.allowPrivateNetworks })
  const usesSystem = settings.allowPrivateNetworks.length > 0 || options.upstreamPolicy !== undefined
  const findCreator = createCreatorLookup(db, databaseHealth)
  const lookup = toLookup(createNameResolver({ usesSystem, findCreator, ...options.names }).resolve)
  const network = {
    policy,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    ownOrigins,
    findCreator,
    lookup,
    findBan: createFindBan(suspensions),
  }
  const upstreamNetwork = { ...network, policy: options.upstreamPolicy ?? policy }
  const responseMemory = createResponseMemory(settings.memory)
  const common = { settings, db, databaseHealth, notices, changes, bus, sealing, logger, counters, mailer, suspensions }

  const identity = identityPlugin(
    { ...common, setup, invitations: invitationsForSignUp, adoptDemoServers, endGrantsOf, hashingCost },
    lifecycle,
  )
  const { accounts } = identity
  const oauth = oauthPlugin({ ...common, network, documents }, lifecycle)
  const verifyMcpToken: VerifyMcpToken = token => accounts.verifyMcpToken(token) ?? oauth.oauthTokens.verify(token)

  // Closed after the recorder, which counts the tokens of the last calls before it writes them.
  const workers = createJobPool({ memory: settings.memory, findCreator, worker: options.jobsWorker })
  lifecycle.onClose(workers.close)
  const history = historyPlugin(common, lifecycle)
  const counting = createTokenWork(workers.job('count-tokens'))
  const loop = watchLoopDelay()
  lifecycle.onClose(loop.close)
  const vitals = watchVitals({
    notices,
    dataDirectory: settings.dataDirectory,
    memoryMb: settings.memory.totalMb,
    loop,
    countQueuedRecords: () => history.recorder.stats().queued,
  })
  lifecycle.onClose(vitals.close)
  const results = resultsPlugin(
    {
      ...common,
      ...history,
      countTexts: workers.job('count-tokens'),
      masking: {
        findSecrets: workers.job('find-secrets'),
        maskUtf8: workers.job('mask-utf8'),
        maskByRules: workers.job('mask-by-rules'),
      },
      inspectResult: workers.job('inspect-result'),
      shapeResult: workers.job('shape-result'),
      responseCache,
    },
    lifecycle,
  )
  const search = toolSearchPlugin({ settings, logger, embeddingLimits }, lifecycle)
  // Closing the connections below cancels calls. This pause lets the recorder above record those calls before it
  // closes.
  lifecycle.onClose(() => setImmediate())

  const upstreams = upstreamsPlugin(
    {
      ...common,
      ...suspending,
      network: upstreamNetwork,
      responseMemory,
      findActorByUserId: accounts.findActorByUserId,
      openGlobals: createGlobalOpener({ db, sealing }),
      compileOutputSchemas: workers.job('compile-output-schemas'),
      servers: {
        getServerFor,
        listGlobals,
        settleOrigins: createOriginSettling(sealing),
        findServerToCall,
        listToolNames: serverId => listAllInstanceNames(db, serverId),
      },
      connectionLimits,
    },
    lifecycle,
  )
  const { upstreamOAuth, upstreamConnections } = upstreams
  const passthrough = passthroughPlugin({ bus, network: upstreamNetwork, accounts: upstreamOAuth.accounts }, lifecycle)
  const checkSchema = workers.job('check-schema')
  const tools = toolsPlugin({ ...common, uses, tokenCounterFor: counting.counterFor, checkSchema })
  const servers = serversPlugin(
    {
      ...common,
      ...tools,
      verifyMcpToken,
      endAccountsOf: upstreamOAuth.removeAccountsOfServer,
      removeHistoryOf: history.historyUpkeep.removeHistoryOf,
      sampleOrigin: SAMPLE_ORIGIN,
    },
    lifecycle,
  )
  const tenancy = tenancyPlugin(
    {
      ...common,
      holdings,
      finishServer: servers.finishServer,
      endClientsOf,
      takeAccountsOfUser: upstreamOAuth.takeAccountsOfUser,
    },
    lifecycle,
  )
  const { eventMails, eventMailing } = eventMailsPlugin({ ...common, timing: options.webhooks }, lifecycle)
  const webhooks = webhooksPlugin({ ...common, network, mailing: eventMailing, timing: options.webhooks }, lifecycle)
  const { maxToolsPerServer } = settings.limits
  const limits = await limitsPlugin({ ...common, limitClock: options.limitClock }, lifecycle)
  const importApplying = createImportApplying({ ...common, tools: tools.tools, maxToolsPerServer })
  const imports = importsPlugin(
    {
      ...common,
      uses,
      network,
      jobs: { description: workers.job('read-description'), collection: workers.job('read-collection') },
      tokenCounterFor: counting.counterFor,
      textCounterFor: counting.textCounterFor,
      findCreator,
    },
    lifecycle,
  )
  const { execution, callFailures } = runtimePlugin(
    {
      ...common,
      ...history,
      ...results,
      ...search,
      ...upstreams,
      ...passthrough,
      ...tools,
      ...servers,
      callAdmission: limits.callAdmission,
      counting,
      network,
      responseMemory,
      inProcess: new Map([[SAMPLE_ORIGIN, sampleApi]]),
    },
    lifecycle,
  )

  const callHistory = createCallHistory({
    ...common,
    ...history,
    target: settings.database,
    readSums: workers.job('read-sums'),
    sumCalls: workers.job('sum-calls'),
    formatCalls: workers.job('format-calls'),
  })

  const upkeep = createUpkeep({ chores: lifecycle.chores, logger })
  lifecycle.onClose(upkeep.close)
  /** Returns the state of an upstream in this process: of its connection, or of its passthrough route. */
  const upstreamStateOf = (upstream: Upstream): UpstreamState =>
    passthrough.passthroughs.stateOf(upstream) ?? upstreamConnections.stateOf(upstream)

  return {
    ...common,
    ...suspending,
    ...identity,
    ...oauth,
    ...history,
    ...results,
    ...upstreams,
    ...passthrough,
    ...tools,
    ...servers,
    ...tenancy,
    ...limits,
    ...imports,
    ...webhooks,
    eventMails,
    importApplying,
    upkeep,
    vitals,
    workers: { stats: workers.stats },
    setup,
    verifyMcpToken,
    tokenCounterFor: counting.counterFor,
    pendingUpstreamAuthorizations: upstreamOAuth.pendingAuthorizations,
    upstreamStateOf,
    upstreamStates: createStateDigest({ listKnown: upstreamConnections.listKnown, stateOf: upstreamStateOf }),
    execution,
    callFailures,
    callHistory,
    findShownAs: execution.findShownAs,
    findCutResultListing: execution.findCutResultListing,
    catalogueReports: createCatalogueReports({ execution, readCatalogue: workers.job('read-catalogue'), bus }),
    /** The toolkit that the demo creates. */
    sample: { title: SAMPLE_TITLE, tools: SAMPLE_TOOLS },
  }
}

/** Builds all services. If one of them cannot start, closes the others and throws. */
export const buildServices = async (settings: Settings, logger: Logger, options: ServiceOptions = {}) => {
  const lifecycle = createLifecycle()
  try {
    return { ...(await openServices(settings, logger, options, lifecycle)), close: lifecycle.close }
  } catch (error) {
    await lifecycle.close()
    throw error
  }
}

export type Services = Awaited<ReturnType<typeof buildServices>>
