import { AppError } from '../../lib/kernel/errors.ts'
import { loadSettings } from '../../lib/process/settings.ts'
import { connectApi, type ManagementApi } from '../management-api.ts'
import { askEmail } from './import-questions.ts'

/** Imported lazily, because it loads all of Patchbay, which takes a while. */
const openLocalApi = async (email: string): Promise<ManagementApi> =>
  (await import('../local-api.ts')).openLocalApi(email)

/**
 * Opens the management API of the Patchbay at `url` with the token of the settings, or that of this installation for an
 * account. Asks for the account if there is a user who can be asked.
 */
export const openApi = async (
  { email, url }: { email?: string | undefined; url?: string | undefined },
  isInteractive: boolean,
): Promise<ManagementApi> => {
  const { token, baseUrl } = loadSettings()
  if (token !== undefined && email === undefined) return connectApi(url ?? baseUrl, token)
  if (url !== undefined) {
    throw new AppError('unauthenticated', `Set PATCHBAY_TOKEN to a personal access token for ${url}.`)
  }
  if (email !== undefined) return openLocalApi(email)
  if (isInteractive) return openLocalApi(await askEmail())
  throw new AppError(
    'unauthenticated',
    'Not signed in: set PATCHBAY_TOKEN to a personal access token, or use --email on the machine that Patchbay runs on.',
  )
}
