import type { FastifyInstance } from 'fastify'
import { AppError } from '../../lib/kernel/errors.ts'
import { DOCUMENT_PATH, describePatchbay, documentUrlOf } from '../../upstreams/oauth-client/patchbay-client.ts'

const MAX_AGE_SECONDS = 60 * 60

/**
 * What Patchbay is as an OAuth client, for authorization servers that know clients by the URL of such a document
 * (OAuth Client ID Metadata Document). They fetch it by https alone: without that there is none.
 */
export const clientDocumentRoutes =
  ({ baseUrl }: { baseUrl: string }) =>
  async (app: FastifyInstance): Promise<void> => {
    app.get(DOCUMENT_PATH, { config: { access: 'anyone' } }, async (_request, reply) => {
      const url = documentUrlOf(baseUrl)
      if (url === undefined) throw new AppError('not_found', 'There is nothing at this address.')
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
