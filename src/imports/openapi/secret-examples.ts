import { isJsonObject, type JsonValue, parseIfJson } from '../../lib/kernel/json.ts'
import { AUTHENTICATION_SCHEME } from '../../tools/secret-looks.ts'
import { type NamedParameter, secretRuleOf } from '../../tools/secret-parameters.ts'
import { holdsSecret } from './texts.ts'

/** Names of passwords and credentials, also as a part of a name. An example that is lost for this costs little. */
const PASSWORD = /pass(?:word|wd|phrase)|pwd|credential|authori[sz]ation/i

/** Matches a name before a value in JSON, XML, a form, a URL or a header. */
const NAME_IN_TEXT = /([\w.[\]-]{1,100})["'\\]{0,3}\s{0,3}[:=>]/g

const isSecretName = (named: NamedParameter): boolean =>
  PASSWORD.test(named.name) || PASSWORD.test(named.alias ?? '') || secretRuleOf(named) !== 'none'

const holdsNamedSecret = (text: string): boolean =>
  AUTHENTICATION_SCHEME.test(text) ||
  [...text.matchAll(NAME_IN_TEXT)].some(([, name = '']) => isSecretName({ place: 'body', name }))

/** Returns the value of a text that is JSON. Descriptions often have the example of an object as one. */
export const readJsonText = (value: JsonValue): JsonValue =>
  typeof value === 'string' && /^\s*[[{]/.test(value) ? (parseIfJson(value) ?? value) : value

/** Returns whether a value, one of its members or a part of its text may be a secret, by its name or its format. */
export const mayHoldSecret = (named: NamedParameter, given: JsonValue): boolean => {
  const value = readJsonText(given)
  if (Array.isArray(value)) return value.some(item => mayHoldSecret(named, item))
  if (isJsonObject(value)) {
    // Lists of headers and variables have each name in a member, too.
    const names = [value.name, value.key].filter(name => typeof name === 'string')
    return (
      names.some(name => isSecretName({ place: 'header', name }) || isSecretName({ place: 'body', name })) ||
      Object.entries(value).some(([name, member]) => mayHoldSecret({ place: 'body', name }, member))
    )
  }
  if (typeof value === 'boolean') return false
  if (typeof value !== 'string') return isSecretName(named)
  return isSecretName({ ...named, value }) || holdsNamedSecret(value) || holdsSecret(value)
}
