import type { FastifyReply } from 'fastify'

/** Prefix of the paths at which the authorization server may redirect to a client. */
const LEADS_TO_CLIENTS = '/oauth/'

/**
 * Redirects to one of Patchbay's paths after a form submission. Browsers apply the page's `form-action` to every
 * redirect that follows (CSP 3 §6.4.1.1) and silently block redirects to clients. Paths that can lead to such a
 * redirect are therefore opened through an intermediate page.
 */
export const redirectAfterForm = (reply: FastifyReply, path: string): FastifyReply =>
  path.startsWith(LEADS_TO_CLIENTS)
    ? reply.page('account/redirecting', { title: 'Redirecting', path, refreshTo: path }, { status: 200 })
    : reply.redirect(path, 303)
