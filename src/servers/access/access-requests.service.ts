import type { MailQueue } from '../../identity/mail/mail-queue.ts'
import type { Transaction } from '../../lib/db/client.ts'
import type { IdPage } from '../../lib/http/id-paging.ts'
import { type Actor, organizationIdsOf } from '../../lib/kernel/actor.ts'
import { AppError } from '../../lib/kernel/errors.ts'
import type { Mail, Mailer } from '../../lib/mail/mailer.ts'
import { type ClosedServer, isClosed } from '../server.ts'
import { auditServer } from '../server-audit.ts'
import {
  assertOwnOrManaged,
  changeAllowed,
  getServerFor,
  type ServerServiceParts,
  seeServer,
} from '../servers.service.ts'
import { accessRequestEmail } from './access-request-email.ts'
import * as store from './access-requests.store.ts'

/** Maximum number of notices of each kind that a page shows. Answering one makes room for the next. */
const MAX_NOTICES = 10

const answered = () => new AppError('not_found', 'This request no longer exists. It may have been answered already.')

/** A private server as a member sees it who may not use it. */
export type ClosedServerPage = {
  server: ClosedServer
  ownerEmail: string
  organizationName: string
  /** Whether the reader has asked for access. */
  isRequested: boolean
}

export type AccessRequestParts = ServerServiceParts & {
  mailer: Pick<Mailer, 'send'>
  mailQueue: Pick<MailQueue, 'post'>
  baseUrl: string
}

/** Lets members ask for access to a private server, and its owner and the organization's admins answer. */
export const createAccessRequestService = ({ db, changes, mailer, mailQueue, baseUrl }: AccessRequestParts) => {
  /** Returns the email that tells the owner of a request. Undefined if nobody has confirmed that the address is theirs. */
  const findEmail = async (tx: Transaction, { id, name }: ClosedServer, asker: string): Promise<Mail | undefined> => {
    const { ownerEmail, isOwnerConfirmed, organizationName } = await store.findOwnerAndOrganization(tx, id)
    if (!isOwnerConfirmed) return undefined
    const link = `${baseUrl}/servers/${id}/access`
    return accessRequestEmail({ to: ownerEmail, asker, serverName: name, organizationName, link })
  }

  /** Removes a request for somebody who may answer it, and returns the server. */
  const takeRequest = async (tx: Transaction, actor: Actor, id: string, userId: string) => {
    const server = await getServerFor(tx, actor, id, 'build')
    assertOwnOrManaged(actor, server)
    if (!(await store.removeRequest(tx, id, userId))) throw answered()
    return server
  }

  return {
    /**
     * Asks for access, and tells the owner. Asking again changes nothing. Throws `conflict` if the actor may use the
     * server.
     */
    requestAccess: async (actor: Actor, id: string): Promise<void> => {
      const email = await changes.commit(async tx => {
        const server = await seeServer(tx, actor, id)
        if (!isClosed(server)) throw new AppError('conflict', 'You can already use this server.')
        if (await store.hasRequested(tx, id, actor.userId)) return undefined
        await store.putRequest(tx, id, actor.userId)
        await auditServer(tx, actor, 'server.access_requested', server)
        return findEmail(tx, server, actor.email)
      })
      if (email !== undefined) mailQueue.post('access request', () => mailer.send(email))
    },

    /** Lists the open requests, for the owner and for managers of the organization. */
    listRequests: async (actor: Actor, id: string, page: IdPage): Promise<store.AccessRequest[]> => {
      assertOwnOrManaged(actor, await getServerFor(db, actor, id, 'build'))
      return store.listRequests(db, id, page)
    },

    /** Adds the user who asked to the allowed users. Throws `not_found` if the request has been answered. */
    approveRequest: (actor: Actor, id: string, userId: string): Promise<void> =>
      changes.commit(async (tx, announce) => {
        const server = await takeRequest(tx, actor, id, userId)
        await changeAllowed(tx, announce, actor, server, [...server.allowedUserIds, userId])
      }),

    declineRequest: (actor: Actor, id: string, userId: string): Promise<void> =>
      changes.commit(async tx => {
        const server = await takeRequest(tx, actor, id, userId)
        await auditServer(tx, actor, 'server.access_declined', server, { userId })
      }),

    /** Lists what waits for the actor as the owner of servers. */
    listNotices: (actor: Actor): Promise<store.OwnerNotices> =>
      store.listOwnerNotices(db, actor.userId, organizationIdsOf(actor), MAX_NOTICES),

    /** Returns what a member sees of a private server that they may not use. Undefined if they may use it. */
    findClosed: async (actor: Actor, id: string): Promise<ClosedServerPage | undefined> => {
      const server = await seeServer(db, actor, id)
      if (!isClosed(server)) return undefined
      const [{ ownerEmail, organizationName }, isRequested] = await Promise.all([
        store.findOwnerAndOrganization(db, id),
        store.hasRequested(db, id, actor.userId),
      ])
      return { server, ownerEmail, organizationName, isRequested }
    },
  }
}

export type AccessRequestService = ReturnType<typeof createAccessRequestService>
