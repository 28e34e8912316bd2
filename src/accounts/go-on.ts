import type { FastifyReply } from 'fastify'

/** Where the authorization server may answer with a redirect to a client. */
const LEADS_TO_CLIENTS = '/oauth/'

/**
 * Sends who has just sent a form on to a path of ours. Browsers hold every redirect that follows a form to the page's
 * `form-action` (CSP 3 §6.4.1.1), and would stop silently at one that leads to a client: there a page comes between.
 */
export const goOn = (reply: FastifyReply, path: string): FastifyReply =>
  path.startsWith(LEADS_TO_CLIENTS)
    ? reply.page('accounts/go-on', { title: 'One moment', path, refreshTo: path }, { status: 200 })
    : reply.redirect(path, 303)
