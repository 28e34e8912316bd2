import type { FastifyPluginAsync } from 'fastify'
import { AppError } from '../../lib/kernel/errors.ts'
import { clientDocumentUrl, DOCUMENT_PATH, describePatchbay } from '../../upstreams/oauth-client/patchbay-client.ts'

const MAX_AGE_SECONDS = 60 * 60

/**
 * Serves Patchbay's client metadata document for its role as an OAuth client. Without https the document is not served,
 * because authorization servers fetch it only over https.
 */
export const clientDocumentRoutes: FastifyPluginAsync<{ baseUrl: string }> = async (app, { baseUrl }) => {
  app.get(DOCUMENT_PATH, { config: { access: 'anyone' } }, async (_request, reply) => {
    const url = clientDocumentUrl(baseUrl)
    if (url === undefined) throw new AppError('not_found', 'Not found.')
    return reply
      .header('cache-control', `public, max-age=${MAX_AGE_SECONDS}`)
      .header('content-type', 'application/json')
      .send(
        JSON.stringify({
          client_id: url,
          ...describePatchbay(baseUrl),
          token_endpoint_auth_method: 'none',
          application_type: 'web',
        }),
      )
  })
}
