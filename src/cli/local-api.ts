import { z } from 'zod'
import { buildApp } from '../app.ts'
import { createLogger } from '../platform/logger.ts'
import { loadSettings } from '../platform/settings.ts'
import { buildServices } from '../services.ts'
import { API_PREFIX, type ManagementApi, toAnswer } from './management-api.ts'

const TOKEN_NAME = 'patchbay import'

/**
 * The API of this very installation, whether or not it runs, in the name of an account: as the other commands, for who
 * has its database. By a token that is taken back at the end. Throws `not_found` for an address without an account.
 */
export const openLocalApi = async (email: string): Promise<ManagementApi> => {
  const settings = loadSettings()
  const logger = createLogger('silent')
  const services = await buildServices(settings, logger)
  try {
    const wish = { name: TOKEN_NAME, scopes: ['read' as const, 'write' as const], expiresInDays: 1 }
    const { id, token } = await services.accounts.createTokenFor(email, wish)
    const app = await buildApp(settings, services, logger)
    const send: ManagementApi['send'] = async (method, path, body) => {
      const response = await app.http.inject({
        method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).parse(method),
        url: `${API_PREFIX}${path}`,
        headers: { host: new URL(settings.baseUrl).host, authorization: `Bearer ${token}` },
        ...(body !== undefined && { payload: body }),
      })
      return toAnswer(response.statusCode, response.body)
    }
    return {
      send,
      close: async () => {
        await send('DELETE', `/tokens/${id}`)
        app.beginStop()
        await app.http.close()
        await services.close()
      },
    }
  } catch (error) {
    await services.close()
    throw error
  }
}
