import { AppError } from '../../lib/kernel/errors.ts'
import { readVariable } from '../../lib/process/settings.ts'
import { askForSecret } from './import-questions.ts'
import type { SecretFrom } from './source-options.ts'

/** A secret that has no value yet. What `basic` asks for is sent in Base64 (RFC 7617). */
type OpenSecret = { key: string; asks: string | null; origins: readonly string[] }

const toValue = ({ asks }: Pick<OpenSecret, 'asks'>, entered: string): string =>
  asks === 'basic' && entered.includes(':') ? Buffer.from(entered).toString('base64') : entered

const readFrom = ({ key, variable }: SecretFrom): string => {
  const value = readVariable(variable)
  if (value !== undefined && value !== '') return value
  throw new AppError('invalid_request', `The variable ${variable}, for the secret ${key}, is not set.`)
}

/**
 * Collects the values of secrets, from the environment or by asking. Those without a value are set later, on the
 * server's page. Throws if the source has no such secret.
 */
export const collectSecrets = async (
  open: readonly OpenSecret[],
  from: readonly SecretFrom[],
  isInteractive: boolean,
): Promise<Record<string, string>> => {
  const values: Record<string, string> = {}
  for (const one of from) {
    const secret = open.find(({ key }) => key === one.key)
    if (secret === undefined) {
      const known = open.map(({ key }) => key).join(', ') || 'none'
      throw new AppError(
        'invalid_request',
        `No selected tool waits for the secret "${one.key}". They wait for: ${known}.`,
      )
    }
    values[one.key] = toValue(secret, readFrom(one))
  }
  if (!isInteractive) return values
  for (const secret of open.filter(({ key }) => !Object.hasOwn(values, key))) {
    const entered = await askForSecret(secret)
    if (entered !== undefined) values[secret.key] = toValue(secret, entered)
  }
  return values
}
