import { buildApp } from '../app.ts'
import { createLogger } from '../lib/process/logger.ts'
import { loadSettings } from '../lib/process/settings.ts'
import { buildServices } from '../services.ts'
import { API_PREFIX, type ManagementApi, toFormBody, toResponse } from './management-api.ts'

const TOKEN_NAME = 'patchbay import'

/**
 * Opens the management API of this installation for an account, whether or not the installation is running. Like the
 * other commands, needs access to the database. Uses a token that is revoked on close. Throws `not_found` if no account
 * has this email.
 */
export const openLocalApi = async (email: string): Promise<ManagementApi> => {
  const settings = loadSettings()
  const logger = createLogger('silent')
  const services = await buildServices(settings, logger)
  try {
    const input = { name: TOKEN_NAME, scopes: ['read' as const, 'write' as const], expiresInDays: 1 }
    const { id, token } = await services.accounts.createTokenFor(email, input)
    const app = await buildApp(settings, services, logger)
    const headers = { host: new URL(settings.baseUrl).host, authorization: `Bearer ${token}` }
    const send: ManagementApi['send'] = async (method, path, body) => {
      const url = `${API_PREFIX}${path}`
      const response = await app.http.inject({ method, url, headers, ...(body !== undefined && { payload: body }) })
      return toResponse(response.statusCode, response.body)
    }
    const sendFiles: ManagementApi['sendFiles'] = async (path, form) => {
      const { contentType, payload } = toFormBody(form)
      const sent = { method: 'POST', headers: { ...headers, 'content-type': contentType }, payload } as const
      const response = await app.http.inject({ ...sent, url: `${API_PREFIX}${path}` })
      return toResponse(response.statusCode, response.body)
    }
    return {
      send,
      sendFiles,
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
