import { isDistinctive } from '../../tools/import/draft-parameters.ts'
import { withoutSecrets } from '../openapi/texts.ts'

/** Creates a function that hides these values, and whatever looks like a secret, in a text for people and models. */
export const createHiding = (secrets: readonly string[]): ((text: string) => string) => {
  const long = [...new Set(secrets)].filter(isDistinctive)
  return text =>
    withoutSecrets(long.reduce((rest, secret) => (rest.includes(secret) ? rest.replaceAll(secret, '…') : rest), text))
}
