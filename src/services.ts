import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import {
  createAccountService,
  createSessionStore,
  type HashingCost,
  removeEndedSessions,
  removeExpiredLinks,
} from './accounts/index.ts'
import {
  createAnswerShaper,
  createAnswerTokensWork,
  createCatalogueWork,
  createTokenWork,
  createToolEmbeddings,
  createToolFinder,
  type EmbeddingLimits,
} from './context/index.ts'
import {
  type AnswerKeepingOptions,
  createAnswerKeeping,
  createCallLedger,
  createCallTokens,
  createExecutionService,
} from './execution/index.ts'
import { createRecorder, removeHistoryOf, removeOldToolDays } from './history/index.ts'
import { joinChanges, openInstallation, setupTokenOf } from './installation.ts'
import { CONNECT_TIMEOUT_MS, MAX_SOCKETS_PER_ORIGIN } from './kernel/index.ts'
import { createCatalogueReports } from './mcp/index.ts'
import {
  createGrantService,
  createOAuthClientService,
  createOAuthTokens,
  endClientsOf,
  endGrantsOf,
  removeWhatIsOver,
} from './oauth/index.ts'
import {
  createAccountDeletion,
  createInvitationService,
  createMemberService,
  createOrganizationService,
  invitationsForSignUp,
  removeExpiredInvitations,
} from './organizations/index.ts'
import { createAuditLog } from './platform/audit/index.ts'
import { createDatabaseCounters } from './platform/counters/index.ts'
import { createEventBus } from './platform/events/index.ts'
import type { Logger } from './platform/logger.ts'
import { createMailer } from './platform/mail/index.ts'
import {
  type AddressPolicy,
  createAddressPolicy,
  createHttpClient,
  type HttpClientOptions,
} from './platform/net/index.ts'
import type { Settings } from './platform/settings.ts'
import { createUpkeep } from './platform/upkeep.ts'
import { SAMPLE_ORIGIN, SAMPLE_TITLE, SAMPLE_TOOLS, sampleApi } from './sample/index.ts'
import {
  createGlobalService,
  createInstanceService,
  createRewiringService,
  createServerAccess,
  createServerRemoval,
  createServerService,
  createServerTransfer,
  createToolAdding,
  createToolkitUseService,
  deriveServerChanges,
  findServerToCall,
  holdings,
  listServersThere,
  uses,
  type VerifyMcpToken,
} from './servers/index.ts'
import { buildAnswerServices } from './services-answers.ts'
import { buildUpstreamServices } from './services-upstreams.ts'
import { createToolkitCatalogue, createToolkitService, createToolLint, createToolService } from './toolkits/index.ts'
import { type ConnectionLimits, createUpstreamOAuth } from './upstreams/index.ts'

/** Where a call would come back to Patchbay: its public address, and where it listens on this machine. */
const ownOriginsOf = ({ baseUrl, port }: Settings): string[] => {
  const urls = [baseUrl, ...['127.0.0.1', 'localhost', '[::1]'].map(host => `http://${host}:${port}`)]
  return urls.map(url => new URL(url).origin)
}

export type ServiceOptions = {
  /** How client metadata documents are fetched, in place of from public addresses alone: for tests on loopback. */
  documents?: Pick<HttpClientOptions, 'policy' | 'lookup'>
  /** Times and sizes of connections to upstreams, in place of the usual ones. */
  connectionLimits?: Partial<ConnectionLimits>
  /** Which addresses upstreams may be at, in place of what the settings say: for the operator's own file of them. */
  upstreamPolicy?: AddressPolicy
  /** Bounds of the answers kept for the next call, and their clock, in place of the usual ones. */
  answerKeeping?: AnswerKeepingOptions
  /** Times of the endpoint that embeds tools, in place of the usual ones. */
  embeddingLimits?: Partial<EmbeddingLimits>
  /** Of passwords, in place of the usual one: for tests that are not of hashing. */
  hashingCost?: HashingCost | undefined
}

/** Every service, built once, in rank order. The database is migrated first; throws what keeps Patchbay from starting. */
export const buildServices = async (
  settings: Settings,
  logger: Logger,
  { documents, connectionLimits, upstreamPolicy, answerKeeping, embeddingLimits, hashingCost }: ServiceOptions = {},
) => {
  const { limits } = settings
  const { db, sealing } = await openInstallation(settings)
  const bus = createEventBus({ logger })
  const changes = await joinChanges({ db, target: settings.database, bus, logger })
  const http = createHttpClient({
    policy: createAddressPolicy({ allow: settings.allowPrivateNetworks }),
    maxRedirects: limits.maxRedirects,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    maxSockets: MAX_SOCKETS_PER_ORIGIN,
    ownOrigins: ownOriginsOf(settings),
    inProcess: new Map([[SAMPLE_ORIGIN, sampleApi]]),
  })
  const mailer = createMailer({
    smtpUrl: settings.smtpUrl,
    outboxDirectory: join(settings.dataDirectory, 'outbox'),
    from: settings.mailFrom,
    logger,
  })
  const recorder = createRecorder({ target: settings.database, logger })

  const setupToken = setupTokenOf(settings, sealing.derive('setup token'))
  const counters = createDatabaseCounters(db)
  const accounts = createAccountService({
    db,
    changes,
    bus,
    counters,
    sealing,
    externalProvider: settings.externalProvider,
    mailer,
    logger,
    policy: { signup: settings.signup, tenancy: settings.tenancy, setupToken },
    invitations: invitationsForSignUp,
    endGrantsOf,
    baseUrl: settings.baseUrl,
    hashingCost,
  })

  const upstreamNetwork = {
    policy: upstreamPolicy ?? createAddressPolicy({ allow: settings.allowPrivateNetworks }),
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    ownOrigins: ownOriginsOf(settings),
  }
  const upstreamOAuth = createUpstreamOAuth({
    db,
    changes,
    bus,
    sealing,
    network: upstreamNetwork,
    baseUrl: settings.baseUrl,
    mayCall: async (userId, serverId) => {
      const actor = await accounts.findActorByUserId(userId)
      return actor !== undefined && (await findServerToCall(db, actor, serverId)) !== undefined
    },
  })

  const serverRemoval = createServerRemoval({
    db,
    removeHistoryOf: (serverId, signal) => removeHistoryOf(db, serverId, signal),
    endAccountsOf: upstreamOAuth.endAccountsOfServer,
    logger,
  })
  const { tenancy } = settings
  const organizationParts = { db, changes, holdings, finishServer: serverRemoval.finish, endClientsOf, tenancy }
  const organizations = createOrganizationService(organizationParts)
  const members = createMemberService(organizationParts)
  const accountDeletion = createAccountDeletion({
    ...organizationParts,
    takeAccountsOfUser: upstreamOAuth.takeAccountsOfUser,
  })
  const invitations = createInvitationService({ db, changes, counters, mailer, baseUrl: settings.baseUrl })

  const oauthTokens = createOAuthTokens({ db, bus, logger, baseUrl: settings.baseUrl })
  const documentClient = createHttpClient({
    // Whatever the settings let tools reach: strangers name the addresses of these.
    policy: createAddressPolicy({ allow: [] }),
    maxRedirects: 0,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    maxSockets: MAX_SOCKETS_PER_ORIGIN,
    ownOrigins: ownOriginsOf(settings),
    ...documents,
  })
  const verifyMcpToken: VerifyMcpToken = token => accounts.verifyMcpToken(token) ?? oauthTokens.verify(token)

  const grants = createGrantService({ db, changes })
  const oauthClients = createOAuthClientService({ db, changes, sealing })

  const toolkitParts = { db, changes, uses }
  const toolkits = createToolkitService(toolkitParts)
  const toolkitCatalogue = createToolkitCatalogue(toolkitParts)
  const tools = createToolService({ ...toolkitParts, maxTimeoutMs: limits.maxToolTimeoutMs })

  const servers = createServerService({
    db,
    changes,
    removal: serverRemoval,
    canConfirmAddresses: mailer.isDelivering,
  })
  const serverTransfer = createServerTransfer({ db, changes })
  const globals = createGlobalService({ db, changes, sealing })
  const instances = createInstanceService({ db, changes, maxToolsPerServer: limits.maxToolsPerServer })
  const rewiring = createRewiringService({ db, changes, sealing })
  const toolAdding = createToolAdding({ db, changes, maxToolsPerServer: limits.maxToolsPerServer })
  const toolkitUses = createToolkitUseService({ db, changes })
  deriveServerChanges({ db, bus })

  const upstreamServices = buildUpstreamServices(
    { settings, logger, db, changes, bus, sealing, network: upstreamNetwork, oauth: upstreamOAuth },
    connectionLimits,
  )

  const keepings = createAnswerKeeping(answerKeeping)
  bus.subscribe('server_changed', ({ serverId }) => keepings.forgetServer(serverId))
  bus.subscribe('server_removed', ({ serverId }) => keepings.forgetServer(serverId))
  bus.subscribe('resync', keepings.forgetAll)

  const counting = createTokenWork()
  const catalogueWork = createCatalogueWork()
  const finder = createToolFinder()
  const embeddings =
    settings.embeddings && createToolEmbeddings({ settings: settings.embeddings, logger, limits: embeddingLimits })
  const shaper = createAnswerShaper()
  const answerServices = buildAnswerServices({ settings, db, bus, logger })
  const answerTokens = createAnswerTokensWork()
  const ledger = createCallLedger({
    work: answerTokens,
    recorder,
    onInternalError: error => logger.error({ err: error }, 'what answers cost could not be counted'),
  })
  bus.subscribe('server_removed', ({ serverId }) => ledger.forgetServer(serverId))
  bus.subscribe('resync', async () => {
    const known = ledger.listServers()
    const there = await listServersThere(db, known)
    for (const serverId of known) if (!there.has(serverId)) ledger.forgetServer(serverId)
  })
  const execution = createExecutionService({
    ...upstreamServices.forExecution,
    db,
    sealing,
    ledger,
    tools,
    instances,
    http,
    recorder,
    limits,
    keepings,
    finder,
    embeddings,
    counting,
    shaper,
    reading: answerServices.reading,
    answers: answerServices.answers,
    onInternalError: error => logger.error({ err: error }, 'a call failed inside Patchbay'),
    onSkipped: (serverId, tool, reason) =>
      logger.warn({ serverId, item: tool, reason }, 'something that a server holds is left out for its clients'),
  })

  const audit = createAuditLog({ db, keptDays: settings.auditDays })
  const upkeep = createUpkeep({
    chores: [
      { name: 'finish removals of servers', run: serverRemoval.finishAll },
      { name: 'remove old audit entries', run: audit.removeOld },
      { name: 'remove ended sessions', run: signal => removeEndedSessions(db, new Date(), signal) },
      { name: 'remove expired tokens and unused clients', run: signal => removeWhatIsOver(db, new Date(), signal) },
      { name: 'remove expired links', run: signal => removeExpiredLinks(db, new Date(), signal) },
      { name: 'remove old sums of tokens', run: signal => removeOldToolDays(db, new Date(), signal) },
      { name: 'remove expired invitations', run: signal => removeExpiredInvitations(db, new Date(), signal) },
    ],
    logger,
  })

  return {
    db,
    bus,
    audit,
    upkeep,
    sealing,
    answerKeeping: keepings,
    recorder,
    mailer,
    setupToken,
    accounts,
    sessionStore: createSessionStore(db),
    accountDeletion,
    organizations,
    members,
    invitations,
    toolkits,
    toolkitCatalogue,
    tools,
    servers,
    serverTransfer,
    globals,
    instances,
    rewiring,
    toolAdding,
    toolkitUses,
    ...upstreamServices.services,
    upstreamJourneys: upstreamOAuth.journeys,
    execution,
    callLedger: ledger,
    callTokens: createCallTokens(db),
    findShownAs: execution.findShownAs,
    countTokens: counting.count,
    toolLint: createToolLint({ db, tools, count: counting.count }),
    catalogueReports: createCatalogueReports({ execution, work: catalogueWork, bus }),
    changes,
    counters,
    documentClient,
    shaper,
    /** Who a token of either kind lets call MCP servers. */
    verifyMcpToken,
    grants,
    oauthClients,
    authorizeServer: createServerAccess(verifyMcpToken),
    /** What the demo makes a toolkit of. */
    sample: { title: SAMPLE_TITLE, tools: SAMPLE_TOOLS },
    close: async (): Promise<void> => {
      await upstreamServices.close()
      // Calls that nobody waits for any more end here, and are recorded as they do.
      await http.close()
      await upstreamOAuth.close()
      await shaper.close()
      await embeddings?.close()
      await answerServices.close()
      await setImmediate()
      await catalogueWork.close()
      await counting.close()
      await Promise.all([ledger.close(), answerTokens.close()])
      await recorder.close()
      await upkeep.close()
      await serverRemoval.close()
      await oauthTokens.close()
      await documentClient.close()
      await accounts.close()
      mailer.close()
      await changes.close()
      await db.close()
    },
  }
}

export type Services = Awaited<ReturnType<typeof buildServices>>
